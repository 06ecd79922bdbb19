import "@sheaf/sheaf/worker";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import App from "./react.jsx";

createRoot(document.getElementById("app")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

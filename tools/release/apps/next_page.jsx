"use client";

import dynamic from "next/dynamic";

// Nothing of it on Next's server: the database is in the browser.
const App = dynamic(() => import("./react.jsx"), { ssr: false });

export default function Page() {
  return <App />;
}

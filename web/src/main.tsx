import { createRoot } from "react-dom/client";
import { App } from "#/app/App";
import "#/ui/tokens.css";
import "#/ui/base.css";

// A page from before an update asks for files that are gone: it is loaded anew, once.
addEventListener("vite:preloadError", () => {
  if (sessionStorage.getItem("reloaded") === location.pathname) return;
  sessionStorage.setItem("reloaded", location.pathname);
  location.reload();
});

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);

import { begin } from "#/app/early";
import "#/ui/tokens.css";
import "#/ui/base.css";

// A page from before an update asks for files that are gone: it is loaded again, once.
addEventListener("vite:preloadError", () => {
  if (sessionStorage.getItem("reloaded") === location.pathname) return;
  sessionStorage.setItem("reloaded", location.pathname);
  location.reload();
});

begin(location);
const root = document.getElementById("root");
if (root) void import("#/app/App").then(({ mount }) => mount(root));

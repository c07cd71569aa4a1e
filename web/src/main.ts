import { begin } from "#/app/early";
import { loadTexts } from "#/lib/language";
import "#/ui/base.css";

// A page from before an update asks for files that are gone: it is loaded again, once.
addEventListener("vite:preloadError", () => {
  if (sessionStorage.getItem("reloaded") === location.pathname) return;
  sessionStorage.setItem("reloaded", location.pathname);
  location.reload();
});

begin(location);
const texts = loadTexts("base");
const root = document.getElementById("root");
if (root) void Promise.all([import("#/app/App"), texts]).then(([{ mount }]) => mount(root));

import { begin } from "#/app/early";
import { loadTexts } from "#/lib/language";
import "#/ui/base.css";

// A page from before an update asks for files that are gone: it is loaded again, once. If the server does not
// answer, the page stays: the browser's own error would take its place, and all that was typed would be lost.
addEventListener("vite:preloadError", async () => {
  if (sessionStorage.getItem("reloaded") === location.pathname) return;
  const page = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (!page?.ok) return;
  sessionStorage.setItem("reloaded", location.pathname);
  location.reload();
});

begin(location);
const texts = loadTexts("base");
const root = document.getElementById("root");
if (root) void Promise.all([import("#/app/App"), texts]).then(([{ mount }]) => mount(root));

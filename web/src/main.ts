import { begin } from "#/app/early";
import { loadTexts } from "#/lib/language";
import "#/ui/base.css";

// A page that was loaded before an update asks for files that the server no longer has. Reloading the page once fixes
// this. If the server does not respond, the page is not reloaded: the browser's error page would replace it, and all
// typed text would be lost.
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

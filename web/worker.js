// The service worker: it keeps the files of the app, so that it opens without a network, and takes files that another
// app shares. It keeps nothing of the API: what the household has is asked for every time.
const first = __FIRST__;
const all = new Set(__ALL__);
const files = "files";

self.addEventListener("install", (e) => {
  self.skipWaiting();
  e.waitUntil(
    caches.open(files).then((c) =>
      // A file that cannot be fetched now is kept when it is first used.
      Promise.all(first.map((f) => (f === "/add" ? keepPage(c, f) : c.add(f).catch(() => {})))),
    ),
  );
});

self.addEventListener("activate", (e) => {
  e.waitUntil(
    (async () => {
      await self.clients.claim();
      const c = await caches.open(files);
      for (const r of await c.keys()) {
        const path = new URL(r.url).pathname;
        if (path.startsWith("/assets/") && !all.has(path)) await c.delete(r);
      }
    })(),
  );
});

/** Keeps a page as it is for someone who is signed in; for everybody else the server leads to the sign-in. */
async function keepPage(c, path) {
  const r = await fetch(path, { credentials: "same-origin" }).catch(() => undefined);
  if (r?.ok && !r.redirected) await c.put(path, r);
}

/** Pages come from the server. Without one, the page that was kept: the one to add, or the app's own for any screen. */
async function page(e, path) {
  const c = await caches.open(files);
  const kept = path === "/add" ? "/add" : "/";
  try {
    const r = await fetch(e.request);
    const ours = r.headers.get("Content-Security-Policy")?.includes("manifest-src"); // a page of the app, not of the server
    if (r.ok && !r.redirected && ours && r.type === "basic") e.waitUntil(c.put(kept, r.clone()));
    return r;
  } catch (fault) {
    const old = await c.match(kept);
    if (old) return old;
    throw fault;
  }
}

/** Files have a hash in their names and never change. */
async function file(request, path) {
  const c = await caches.open(files);
  const old = await c.match(path);
  if (old) return old;
  const r = await fetch(request);
  if (r.ok && (all.has(path) || !path.startsWith("/assets/"))) await c.put(path, r.clone());
  return r;
}

/** A file that another app shares is kept until the import page takes it. */
async function shared(request) {
  const form = await request.formData();
  const c = await caches.open("shared");
  for (const k of await c.keys()) await c.delete(k);
  let n = 0;
  for (const f of form.getAll("file")) {
    if (typeof f === "string") continue;
    const headers = { "X-Name": encodeURIComponent(f.name), "Content-Type": f.type || "application/octet-stream" };
    await c.put(`/shared/${n++}`, new Response(f, { headers }));
  }
  return Response.redirect("/import", 303);
}

self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (url.origin !== location.origin) return;
  const path = url.pathname;
  if (e.request.method === "POST" && path === "/share") e.respondWith(shared(e.request));
  if (e.request.method !== "GET") return;
  if (path.startsWith("/assets/") || path === "/icon.svg" || path === "/manifest.webmanifest") {
    e.respondWith(file(e.request, path));
  } else if (
    e.request.mode === "navigate" &&
    !/^\/(api|auth|login|logout|account|link|join|setup|static|docs|oauth|calendar|mcp)\b/.test(path)
  ) {
    e.respondWith(page(e, path));
  }
});

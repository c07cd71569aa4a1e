// The service worker. It stores the files of the app, so that the app opens without a network, and accepts files that
// other apps share. It stores nothing of the API: data is always requested again.
const first = __FIRST__;
const all = new Set(__ALL__);
const files = "files";

self.addEventListener("install", (e) => {
  self.skipWaiting();
  e.waitUntil(
    caches.open(files).then((c) =>
      // A file that cannot be fetched now is stored when it is first used.
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

/**
 * Stores a page if someone is signed in. For anyone else, the server redirects to the sign-in page, which is not
 * stored.
 */
async function keepPage(c, path) {
  const r = await fetch(path, { credentials: "same-origin" }).catch(() => undefined);
  if (r?.ok && !r.redirected) await c.put(path, r);
}

/** Fetches a page from the server. If that fails, returns a stored page: /add, or the app's page for any screen. */
async function page(e, path) {
  const c = await caches.open(files);
  const kept = path === "/add" ? "/add" : "/";
  try {
    const r = await fetch(e.request);
    const ours = r.headers.get("Content-Security-Policy")?.includes("manifest-src"); // only the app's pages have this
    if (r.ok && !r.redirected && ours && r.type === "basic") e.waitUntil(c.put(kept, r.clone()));
    return r;
  } catch (fault) {
    const old = await c.match(kept);
    if (old) return old;
    throw fault;
  }
}

/** Returns a file from the cache, or fetches and stores it. Its name contains a hash, so its content never changes. */
async function file(request, path) {
  const c = await caches.open(files);
  const old = await c.match(path);
  if (old) return old;
  const r = await fetch(request);
  if (r.ok && (all.has(path) || !path.startsWith("/assets/"))) await c.put(path, r.clone());
  return r;
}

/** Stores a file that another app shares, until the import page takes it. */
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

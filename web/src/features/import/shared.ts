/** Takes the statement that another app shared with this one. The service worker kept it; now it is forgotten there. */
export async function takeShared(): Promise<File | undefined> {
  if (!("caches" in window)) return undefined;
  const stored = await caches.match("/shared/0", { cacheName: "shared" });
  await caches.delete("shared");
  if (!stored) return undefined;
  const name = decodeURIComponent(stored.headers.get("X-Name") ?? "statement");
  return new File([await stored.blob()], name, { type: stored.headers.get("Content-Type") ?? "" });
}

/** Takes the statement that another app shared with this one. The service worker kept it; now it is forgotten there. */
export async function takeShared(): Promise<File | undefined> {
  if (!("caches" in window)) return undefined;
  const kept = await caches.match("/shared/0", { cacheName: "shared" });
  await caches.delete("shared");
  if (!kept) return undefined;
  const name = decodeURIComponent(kept.headers.get("X-Name") ?? "statement");
  return new File([await kept.blob()], name, { type: kept.headers.get("Content-Type") ?? "" });
}

/**
 * Returns the statements that another app shared with this one, in its order. The service worker stored the files; this
 * deletes them there.
 */
export async function takeShared(): Promise<File[]> {
  if (!("caches" in window)) return [];
  const stored = await caches.open("shared");
  const files: File[] = [];
  for (let n = 0; ; n++) {
    const one = await stored.match(`/shared/${n}`);
    if (!one) break;
    const name = decodeURIComponent(one.headers.get("X-Name") ?? "statement");
    files.push(new File([await one.blob()], name, { type: one.headers.get("Content-Type") ?? "" }));
  }
  await caches.delete("shared");
  return files;
}

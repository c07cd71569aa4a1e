/** The language and region that a member prefers. "" means the browser's own. */
export type Reader = { language: string; region: string };

const keys = ["language", "region"] as const;

/** The language and region in a member's preferences. Other apps may store other preferences in the same object. */
export function readerOf(preferences: unknown): Reader {
  const all = (typeof preferences === "object" && preferences !== null ? preferences : {}) as Record<string, unknown>;
  const word = (v: unknown) => (typeof v === "string" ? v : "");
  return { language: word(all.language), region: word(all.region) };
}

/**
 * Stores a member's language and region in this browser, so that the next page starts with them. Returns whether the
 * current page was drawn with others. Without a preference, a choice made in this browser stays, unless an earlier
 * preference was stored here.
 */
export function adopt(member: string, r: Reader, store: Storage = localStorage): boolean {
  if (!r.language && !r.region && store.getItem("reader") === null) return false;
  store.setItem("reader", member);
  let changed = false;
  for (const key of keys) {
    changed ||= (store.getItem(key) ?? "") !== r[key];
    if (r[key]) store.setItem(key, r[key]);
    else store.removeItem(key);
  }
  return changed;
}

/** How a member likes to read: a language that there is a catalogue of, and a region. "" is as the browser has it. */
export type Reader = { language: string; region: string };

const keys = ["language", "region"] as const;

/** What a member's preferences say of it; other apps may keep theirs in the same place. */
export function readerOf(preferences: unknown): Reader {
  const all = (typeof preferences === "object" && preferences !== null ? preferences : {}) as Record<string, unknown>;
  const word = (v: unknown) => (typeof v === "string" ? v : "");
  return { language: word(all.language), region: word(all.region) };
}

/**
 * Keeps in this browser what a member prefers, so that the next first screen is drawn with it. Answers whether this one
 * was drawn with something else. What was set here by hand stays if nobody's preference was ever kept here.
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

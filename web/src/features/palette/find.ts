import { i18n } from "@lingui/core";
import type { Place } from "./places";

/** A text without case and accents, because people do not type them into a search. */
const plain = (s: string) => s.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").trim();

const begins = (words: readonly string[], typed: string) => words.some((w) => w.startsWith(typed));

/** How well a place matches the typed text; 0 is best, undefined means that it does not match. */
export function rank(name: string, words: string, typed: string): number | undefined {
  const [n, q] = [plain(name), plain(typed)];
  const phrases = plain(words)
    .split(",")
    .map((w) => w.trim());
  const inside = (texts: readonly string[]) => texts.flatMap((s) => s.split(/[\s-]+/));
  if (n === q) return 0;
  if (phrases.includes(q)) return 1;
  if (n.startsWith(q)) return 2;
  if (begins(inside([n]), q)) return 3;
  if (begins(phrases, q)) return 4;
  if (begins(inside(phrases), q)) return 5;
  const all = inside([n, ...phrases]);
  const several = q.split(/\s+/);
  if (several.length > 1 && several.every((w) => begins(all, w))) return 6;
  return undefined;
}

type May = { write: boolean; admin: boolean };

/** The places that match the text and that the person can use, the best first. For an empty text, the main pages. */
export function find<P extends Place>(places: readonly P[], typed: string, may: May): P[] {
  const open = places.filter((p) => (p.for === "admins" ? may.admin : p.for !== "writers" || may.write));
  if (typed.trim() === "") return open.filter((p) => p.main);
  return open
    .flatMap((p) => {
      const r = rank(i18n._(p.name), i18n._(p.words), typed);
      return r === undefined ? [] : [{ p, r }];
    })
    .sort((a, b) => a.r - b.r)
    .map(({ p }) => p);
}

import type { Choice } from "./Picker";

/** One or two letters are the beginning of a word; more may stand anywhere. */
export function fits(c: Choice, query: string): boolean {
  const typed = query.trim().toLowerCase();
  return !typed || !c.value || rank(c, typed) < (typed.length > 2 ? 4 : 3);
}

/** How well a name matches the typed text, the best first. */
function rank(c: Choice, typed: string): number {
  const label = c.label.toLowerCase();
  if (!c.value) return 5; // the entry that creates a choice comes after existing choices
  if (label === typed) return 0;
  if (label.startsWith(typed)) return 1;
  if (label.split(/[^\p{L}\p{N}]+/u).some((w) => w.startsWith(typed))) return 2;
  return label.includes(typed) ? 3 : 4;
}

/** The name itself first, then those that begin with the words, then the others; else as they came. */
export function ranked(choices: Choice[], query: string): Choice[] {
  const typed = query.trim().toLowerCase();
  return typed ? choices.toSorted((a, b) => rank(a, typed) - rank(b, typed)) : choices;
}

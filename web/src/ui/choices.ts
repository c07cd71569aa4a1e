import type { Choice } from "./Picker";

/** Whether a choice matches the typed text: one or two letters must begin a word, longer text may be anywhere. */
export function fits(c: Choice, query: string): boolean {
  const typed = query.trim().toLowerCase();
  return !typed || !c.value || rank(c, typed) < (typed.length > 2 ? 4 : 3);
}

/** How well a name matches the typed text; 0 is best. */
function rank(c: Choice, typed: string): number {
  const label = c.label.toLowerCase();
  if (!c.value) return 5; // the entry that creates a choice comes after existing choices
  if (label === typed) return 0;
  if (label.startsWith(typed)) return 1;
  if (label.split(/[^\p{L}\p{N}]+/u).some((w) => w.startsWith(typed))) return 2;
  return label.includes(typed) ? 3 : 4;
}

/** Puts the best matches first. Choices that match equally well keep their order. */
export function ranked(choices: Choice[], query: string): Choice[] {
  const typed = query.trim().toLowerCase();
  return typed ? choices.toSorted((a, b) => rank(a, typed) - rank(b, typed)) : choices;
}

import all from "virtual:messages";

type Messages = Record<string, never>;

/** The languages that have a catalogue of texts. */
export const languages = Object.keys(all).sort();

/**
 * The language to show: the one chosen in this browser, else the browser's first language that has texts, else English.
 */
export function choose(chosen: string | null, browser: readonly string[], there: readonly string[] = languages) {
  const wanted = [...(chosen ? [chosen] : []), ...browser];
  for (const w of wanted) {
    const found = there.find((l) => l === w || l === w.split("-")[0]);
    if (found) return found;
  }
  return "en";
}

export const language =
  typeof localStorage === "undefined" ? "en" : choose(localStorage.getItem("language"), navigator.languages);

let take: (m: Messages) => void = (m) => void early.push(m);
const early: Messages[] = [];
const loads = new Map<string, Promise<void>>();

/** Loads the texts of a part of the app in the reader's language: "base", or a folder of features. */
export function loadTexts(part: string): Promise<void> {
  const load = all[language]?.[part];
  let one = loads.get(part);
  if (!one) {
    one = load ? load().then((m) => take(m.default)) : Promise.resolve();
    one.catch(() => loads.delete(part)); // a later call tries again
    loads.set(part, one);
  }
  return one;
}

/** Sets the function that keeps loaded texts, and passes it the texts that were loaded before. */
export function keepTexts(keep: (m: Messages) => void) {
  take = keep;
  for (const m of early.splice(0)) keep(m);
}

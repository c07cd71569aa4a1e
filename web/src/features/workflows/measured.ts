import type { Evaluation } from "#/api/workflows";
import { type Decider, percent } from "#/charts/Shares";
import { payments } from "#/lib/words";
import { some } from "./words";

type Score = Evaluation["score"];

const names: Record<Evaluation["baselines"][number]["name"], string> = {
  provider: "The bank’s category",
  rules: "Your rules of then",
  precedent: "The same payee before",
};

export const moods = { too_few: "warn", better: "good", level: "info", worse: "warn" } as const;

/** The workflow first, then what is reached without a model. */
const all = (r: Evaluation): [string, Score][] => [
  ["This workflow", r.score],
  ...r.baselines.map((b): [string, Score] => [names[b.name] ?? b.name, b]),
];

export const decidersOf = (r: Evaluation): Decider[] =>
  all(r).map(([name, s], i) => ({ name, own: i === 0, right: s.accuracy, decided: s.coverage }));

const figure = (n: number) => n.toLocaleString("en");

const span = (s: NonNullable<Score["accuracy"]>) => `${figure(s.low)} to ${figure(s.high)}`;

/** "66.7 % (47.8 to 81.4)": with what it may really be. */
export const shareOf = (s: Score["accuracy"]) => (s ? `${percent(s.percent)} (${span(s)})` : "–");

/** The same figures as a table, with those that the chart does not show. */
export const tableOf = (r: Evaluation) => ({
  heads: ["Who decides", "Sure, %", "Right of these, %", "Wrong, %", "Harm, %"],
  rows: all(r).map(([name, s]) => [
    name,
    figure(s.coverage),
    s.accuracy ? `${figure(s.accuracy.percent)} (${span(s.accuracy)})` : "–",
    figure(s.wrong_per_100),
    figure(s.harm_per_100),
  ]),
});

/** What it was compared with, and what was left out. */
export function labelsOf(r: Evaluation): string {
  const { held, confirmed, unanswerable } = r.labels;
  const parts = [`${payments(r.n)}: ${figure(held)} that people filed`];
  if (confirmed) parts.push(`${figure(confirmed)} that they left as they were`);
  const out = unanswerable
    ? ` ${payments(unanswerable)} ${unanswerable === 1 ? "is" : "are"} left out, because nobody could have known.`
    : "";
  return `${parts.join(", ")}, as of ${some(r.windows, "moment")}.${out}`;
}

/** "2.5 of 100 payments would be filed wrongly" */
export const ofHundred = (n: number, what: string) => `${figure(n)} of 100 ${what}`;

/** How it compares with the last time that it was measured. */
export function previousOf(p: NonNullable<Evaluation["previous"]>): string {
  const asked = `of ${payments(p.n)} that ${p.model} was asked about then`;
  if (!p.gained && !p.lost) return `No difference, ${asked}.`;
  return `${figure(p.gained)} more right and ${figure(p.lost)} no longer, ${asked}.`;
}

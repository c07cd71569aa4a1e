import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Evaluation } from "#/api/workflows";
import type { Decider } from "#/charts/Shares";
import { number, percent, transactions } from "#/lib/words";

type Score = Evaluation["score"];

const names: Record<Evaluation["baselines"][number]["name"], MessageDescriptor> = {
  provider: msg`Bank category`,
  rules: msg`Your rules at the time`,
  precedent: msg`Previous category for payee`,
};

export const moods = { too_few: "warn", better: "good", level: "info", worse: "warn" } as const;

/** The score of the workflow, followed by the scores of methods without a model. */
const all = (r: Evaluation): [string, Score][] => [
  [t`This workflow`, r.score],
  ...r.baselines.map((b): [string, Score] => [names[b.name] ? i18n._(names[b.name]) : b.name, b]),
];

export const decidersOf = (r: Evaluation): Decider[] =>
  all(r).map(([name, s], i) => ({ name, own: i === 0, right: s.accuracy, decided: s.coverage }));

/** A share with the range that chance allows: "66.7% (47.8–81.4)". */
export const shareOf = (s: Score["accuracy"]) =>
  s ? `${percent(s.percent)} (${number(s.low)}–${number(s.high)})` : "–";

/** The figures of the chart as a table, with further figures. */
export const tableOf = (r: Evaluation) => ({
  heads: [t`Method`, t`Confident`, t`Correct`, t`Incorrect`, t`Made worse`],
  rows: all(r).map(([name, s]) => [
    name,
    percent(s.coverage),
    shareOf(s.accuracy),
    percent(s.wrong_per_100),
    percent(s.harm_per_100),
  ]),
});

/** The decisions of people that were compared, and how many transactions were excluded. */
export function labelsOf(r: Evaluation): string {
  const { confirmed, unanswerable } = r.labels;
  const tested = transactions(r.n);
  const made = [
    plural({ held: r.labels.held }, { one: "# categorized by people", other: "# categorized by people" }),
    confirmed ? plural({ confirmed }, { one: "# approved unchanged", other: "# approved unchanged" }) : "",
  ];
  const labels = made.filter(Boolean).join(", ");
  return [
    t`${tested}: ${labels}, at ${plural({ windows: r.windows }, { one: "# point in time", other: "# points in time" })}.`,
    unanswerable
      ? plural(unanswerable, {
          one: "# transaction excluded: its category wasn’t available yet.",
          other: "# transactions excluded: their category wasn’t available yet.",
        })
      : "",
  ]
    .filter(Boolean)
    .join(" ");
}

export const wrongOf = (n: number) =>
  plural({ count: n }, { one: "# of 100 would be miscategorized", other: "# of 100 would be miscategorized" });
export const harmOf = (n: number) =>
  plural({ count: n }, { one: "# of 100 was correct before", other: "# of 100 were correct before" });

/** How the result compares with that of the last test. */
export function previousOf(p: NonNullable<Evaluation["previous"]>): string {
  const tested = transactions(p.n);
  const { model } = p;
  if (!p.gained && !p.lost) return t`No change on ${tested} tested with ${model}.`;
  return t`${plural({ gained: p.gained }, { one: "# newly correct", other: "# newly correct" })}, ${plural({ lost: p.lost }, { one: "# newly incorrect", other: "# newly incorrect" })}, of ${plural({ tested: p.n }, { one: "# transaction", other: "# transactions" })} tested with ${model}.`;
}

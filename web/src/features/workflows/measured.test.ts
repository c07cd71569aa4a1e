import { expect, it } from "vitest";
import type { Evaluation } from "#/api/workflows";
import { decidersOf, labelsOf, ofHundred, previousOf, shareOf, tableOf } from "./measured";

const score = {
  answered: 160,
  right: 150,
  wrong: 10,
  coverage: 80,
  accuracy: { percent: 93.8, low: 88.9, high: 96.6 },
  primary: { percent: 96, low: 92, high: 98 },
  wrong_per_100: 5,
  harm_per_100: 0.5,
};
const none = { answered: 0, right: 0, wrong: 0, coverage: 0, accuracy: null, primary: null };
const r = {
  windows: 4,
  n: 200,
  labels: { held: 180, confirmed: 20, unanswerable: 1 },
  score,
  baselines: [{ name: "rules" as const, ...none, wrong_per_100: 0, harm_per_100: 0 }],
} as unknown as Evaluation;

it("puts the workflow before what is reached without a model", () => {
  expect(decidersOf(r)).toEqual([
    { name: "This workflow", own: true, right: score.accuracy, decided: 80 },
    { name: "Your rules of then", own: false, right: null, decided: 0 },
  ]);
  expect(tableOf(r).rows).toEqual([
    ["This workflow", "80", "93.8 (88.9 to 96.6)", "5", "0.5"],
    ["Your rules of then", "0", "–", "0", "0"],
  ]);
});

it("says what it was compared with", () => {
  expect(labelsOf(r)).toBe(
    "200 payments: 180 that people filed, 20 that they left as they were, as of 4 moments. " +
      "1 payment is left out, because nobody could have known.",
  );
  expect([shareOf(score.accuracy), shareOf(null)]).toEqual(["93.8 % (88.9 to 96.6)", "–"]);
  expect(ofHundred(2.5, "were wrong")).toBe("2.5 of 100 were wrong");
  const p = { run_id: "a", model: "sim", n: 100, gained: 0, lost: 0 };
  expect(previousOf(p)).toBe("No difference, of 100 payments that sim was asked about then.");
  expect(previousOf({ ...p, gained: 3, lost: 1 })).toContain("3 more right and 1 no longer");
});

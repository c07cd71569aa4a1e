import { expect, it } from "vitest";
import type { Evaluation } from "#/api/workflows";
import { decidersOf, harmOf, labelsOf, previousOf, shareOf, tableOf, wrongOf } from "./measured";

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
    { name: "Your rules at the time", own: false, right: null, decided: 0 },
  ]);
  expect(tableOf(r).rows).toEqual([
    ["This workflow", "80%", "93.8% (88.9–96.6)", "5%", "0.5%"],
    ["Your rules at the time", "0%", "–", "0%", "0%"],
  ]);
});

it("says what it was compared with", () => {
  expect(labelsOf(r)).toBe(
    "200 transactions: 180 categorized by people, 20 approved unchanged, at 4 points in time. " +
      "1 transaction excluded: its category wasn’t available yet.",
  );
  expect([shareOf(score.accuracy), shareOf(null)]).toEqual(["93.8% (88.9–96.6)", "–"]);
  expect(wrongOf(2.5)).toBe("2.5 of 100 would be miscategorized");
  expect(harmOf(1)).toBe("1 of 100 was correct before");
  const p = { run_id: "a", model: "sim", n: 100, gained: 0, lost: 0 };
  expect(previousOf(p)).toBe("No change on 100 transactions tested with sim.");
  expect(previousOf({ ...p, gained: 3, lost: 1 })).toBe(
    "3 newly correct, 1 newly incorrect, of 100 transactions tested with sim.",
  );
});

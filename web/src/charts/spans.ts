import { ordinal } from "#/lib/dates";
import type { Cents } from "#/lib/money";

export type Known = {
  day: string;
  value: Cents;
  /** Nobody stated it: it follows from other days. */
  derived?: boolean;
  /** The payments do not explain the balances around it. */
  off?: boolean;
};
export type Gap = { from: Known; to: Known };

const least = 7; // days

/** Splits known days where more are missing than is usual for them: runs that are drawn, and gaps between. */
export function spans(points: readonly Known[]): { runs: Known[][]; gaps: Gap[] } {
  const steps = points.slice(1).map((p, i) => ordinal(p.day) - ordinal((points[i] as Known).day));
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 1;
  const wide = Math.max(least, 3 * usual);
  const runs: Known[][] = [];
  const gaps: Gap[] = [];
  points.forEach((p, i) => {
    const run = runs.at(-1);
    if (run && (steps[i - 1] ?? 0) <= wide) run.push(p);
    else {
      if (run) gaps.push({ from: run.at(-1) as Known, to: p });
      runs.push([p]);
    }
  });
  return { runs, gaps };
}

/** Parts a run into what was stated and what was derived. Strokes share the day at which they meet. */
export function strokes(run: readonly Known[]): { derived: boolean; points: Known[] }[] {
  const out: { derived: boolean; points: Known[] }[] = [];
  run.slice(1).forEach((b, i) => {
    const a = run[i] as Known;
    const derived = !!(a.derived || b.derived);
    const last = out.at(-1);
    if (last?.derived === derived) last.points.push(b);
    else out.push({ derived, points: [a, b] });
  });
  return out;
}

/** The stated days of a run beside which no other is stated, which no stroke shows. */
export function alone(run: readonly Known[]): Known[] {
  const stated = (k: Known | undefined) => k !== undefined && !k.derived;
  return run.filter((k, i) => stated(k) && !stated(run[i - 1]) && !stated(run[i + 1]));
}

/** Where days do not add up, each from the day before the first of them. */
export function offs(points: readonly Known[]): Gap[] {
  const out: Gap[] = [];
  points.forEach((p, i) => {
    if (!p.off) return;
    const before = points[i - 1];
    const last = out.at(-1);
    if (before?.off && last) last.to = p;
    else out.push({ from: before ?? p, to: p });
  });
  return out;
}

/** The days worth a line of a table: those that were stated, and those on which the balance moved. */
export const moves = (points: readonly Known[]) =>
  points.filter((p, i) => !p.derived || p.value !== points[i - 1]?.value);

/** The first days of months between two days, at most so many, for the foot of a chart. */
export function monthTicks(from: string, to: string, limit: number): string[] {
  const [y, m] = from.split("-").map(Number) as [number, number];
  const [v, w] = to.split("-").map(Number) as [number, number];
  const first = y * 12 + m;
  const last = v * 12 + w - 1;
  const step = [1, 2, 3, 6, 12, 24, 60].find((s) => (last - first + 1) / s <= limit) ?? 120;
  const out: string[] = [];
  for (let n = first; n <= last; n++)
    if (n % step === 0) out.push(`${Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, "0")}-01`);
  return out;
}

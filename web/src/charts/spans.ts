import { ordinal } from "#/lib/dates";
import type { Cents } from "#/lib/money";

export type Known = {
  day: string;
  value: Cents;
  /** Whether no source stated the balance, so that it was computed from other days. */
  derived?: boolean;
  /** Whether the transactions do not explain the balances around this day. */
  off?: boolean;
};
export type Gap = { from: Known; to: Known };

const least = 7; // days that may always be missing without a gap

/**
 * Splits known days into runs, which are drawn, and the gaps between them. A gap is longer than is usual for these
 * days.
 */
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

/** Splits a run into strokes of stated days and strokes of derived days. Neighboring strokes share a day. */
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

/** The stated days of a run without a stated neighbor. No stroke draws them, so they need a mark of their own. */
export function alone(run: readonly Known[]): Known[] {
  const stated = (k: Known | undefined) => k !== undefined && !k.derived;
  return run.filter((k, i) => stated(k) && !stated(run[i - 1]) && !stated(run[i + 1]));
}

/**
 * The spans in which the transactions do not explain the balances. Each begins on the day before its first such day.
 */
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

/** The days that a table lists: those with a stated balance, and those on which the balance changed. */
export const moves = (points: readonly Known[]) =>
  points.filter((p, i) => !p.derived || p.value !== points[i - 1]?.value);

/** The first days of months between two days, for the foot of a chart; at most `limit` of them. */
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

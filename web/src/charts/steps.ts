/**
 * The lines of an axis, at whole amounts only, so that no two have the same label. A chart without data has only the
 * line at zero.
 */
export const steps = (ticks: readonly number[], nothing: boolean): number[] =>
  nothing ? [0] : ticks.filter((t) => Number.isInteger(t));

/** Labels in their order without those that would be drawn over the next one: a year that begins later is the better mark. */
export const roomy = <T extends { at: number }>(labels: readonly T[], apart: number): T[] =>
  labels.filter((l, i) => (labels[i + 1]?.at ?? Number.POSITIVE_INFINITY) - l.at >= apart);

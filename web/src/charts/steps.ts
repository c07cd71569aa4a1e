/**
 * The lines of an axis. Only whole amounts get one, because rounded labels could be equal. A chart without data has
 * only the line at zero.
 */
export const steps = (ticks: readonly number[], nothing: boolean): number[] =>
  nothing ? [0] : ticks.filter((t) => Number.isInteger(t));

/** Removes labels that would overlap the next one. Of two years, the later one stays, because it is the better mark. */
export const roomy = <T extends { at: number }>(labels: readonly T[], apart: number): T[] =>
  labels.filter((l, i) => (labels[i + 1]?.at ?? Number.POSITIVE_INFINITY) - l.at >= apart);

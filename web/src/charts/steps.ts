/**
 * The lines of an axis, at whole amounts only, so that no two have the same label. A chart without data has only the
 * line at zero.
 */
export const steps = (ticks: readonly number[], nothing: boolean): number[] =>
  nothing ? [0] : ticks.filter((t) => Number.isInteger(t));

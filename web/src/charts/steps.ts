/**
 * The lines of an axis. They are named in whole amounts, so that two of them never have the same name; where there is
 * nothing to measure, the foot is enough.
 */
export const steps = (ticks: readonly number[], nothing: boolean): number[] =>
  nothing ? [0] : ticks.filter((t) => Number.isInteger(t));

/** Some whole days of a month whose rows are loaded together. `at` is the number of the month's rows before them. */
export type Piece = { start: string; end: string; at: number; rows: number };

/** A month with at most this many rows is not divided. */
export const undividedRows = 200;
const enough = 120; // rows; a piece with this many ends with its current day

/** Divides a month into pieces, from its days and their counts, newest first. */
export function piecesOf(days: readonly { period: string; count: number }[]): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const { period, count } of days) {
    const last = out.at(-1);
    if (last && last.rows < enough) {
      last.start = period;
      last.rows += count;
    } else out.push({ start: period, end: period, at, rows: count });
    at += count;
  }
  return out;
}

/** Some whole days of a month, which are loaded and forgotten together. Its rows begin at a row of the month. */
export type Piece = { start: string; end: string; at: number; rows: number };

/** A month with no more rows than this is one piece. */
export const undividedRows = 200;
const enough = 120; // rows, after which a piece ends with its day

/** The pieces of a month, by its days with their counts, newest first. */
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

const payments = (n: number) => `${n} ${n === 1 ? "payment" : "payments"}`;

/** What a merge does, as a person reads it before it is done. */
export function mergeWords(r: { moved: number; duplicates: number; decisions_moved: number }): string {
  const said = [`${payments(r.moved)} ${r.moved === 1 ? "moves" : "move"}.`];
  if (r.duplicates > 0) {
    said.push(`${payments(r.duplicates)} that both accounts have ${r.duplicates === 1 ? "stays" : "stay"} once.`);
  }
  if (r.decisions_moved > 0) {
    said.push(`What you decided about them is kept: ${r.decisions_moved}.`);
  }
  return `${said.join(" ")} You can undo this.`;
}

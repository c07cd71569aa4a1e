import { plural, t } from "@lingui/core/macro";
/** Describes the effect of a merge before it is done. */
export function mergeWords(r: { moved: number; duplicates: number; decisions_moved: number }): string {
  const said = [plural(r.moved, { one: "# transaction will move.", other: "# transactions will move." })];
  if (r.duplicates > 0) {
    said.push(
      plural(r.duplicates, { one: "# duplicate will be kept once.", other: "# duplicates will be kept once." }),
    );
  }
  if (r.decisions_moved > 0) {
    said.push(
      plural(r.decisions_moved, { one: "# of your edits will be kept.", other: "# of your edits will be kept." }),
    );
  }
  return [...said, t`You can undo this.`].join(" ");
}

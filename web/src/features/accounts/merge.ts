import { plural, t } from "@lingui/core/macro";
/** Describes what a merge would do. */
export function mergeWords(r: { moved: number; duplicates: number; decisions_moved: number }): string {
  const sentences = [plural(r.moved, { one: "# transaction will move.", other: "# transactions will move." })];
  if (r.duplicates > 0) {
    sentences.push(
      plural(r.duplicates, { one: "# duplicate will be kept once.", other: "# duplicates will be kept once." }),
    );
  }
  if (r.decisions_moved > 0) {
    sentences.push(
      plural(r.decisions_moved, { one: "# of your edits will be kept.", other: "# of your edits will be kept." }),
    );
  }
  return [...sentences, t`You can undo this.`].join(" ");
}

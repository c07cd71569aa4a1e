import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Skipped } from "#/api/changes";
import { number } from "#/lib/words";

const fields: Record<string, MessageDescriptor> = {
  category: msg`Category`,
  counterparty: msg`Payee`,
  tag: msg`Tag`,
  comment: msg`Comment`,
  excluded_reason: msg`Left out of totals`,
  refund_of: msg`Refund of`,
};

/** The name of a field as screens show it. */
export function fieldOf(field: string): string {
  const name = fields[field.split(":")[0] ?? ""];
  return name ? i18n._(name) : field.replaceAll("_", " ");
}

const reasons: Record<Skipped["reason"], MessageDescriptor> = {
  changed_since: msg`changed since`,
  reviewed_since: msg`reviewed since by a person`,
  held: msg`locked`,
  missing: msg`deleted`,
  conflict: msg`conflicts with the current value`,
  together: msg`part of a merge or deletion that can only be undone as a whole; undo later changes first`,
};

/** The reason why a field does not change. */
export const reasonOf = (reason: Skipped["reason"]): string => {
  const why: MessageDescriptor | undefined = reasons[reason];
  return why ? i18n._(why) : reason;
};

/** Says how many transactions or, if none, how many fields an undo changes: "Changes to 2 fields will be undone." */
export function goesBack(transactions: number, fields: number): string {
  if (!fields) return t`There’s nothing left to undo.`;
  return transactions
    ? plural(transactions, {
        one: "Changes to # transaction will be undone.",
        other: "Changes to # transactions will be undone.",
      })
    : plural(fields, { one: "Changes to # field will be undone.", other: "Changes to # fields will be undone." });
}

/** How many fields do not change, and why: "3 fields won't change: 2 locked, 1 changed since". */
export function stay(by: Record<string, number>): string {
  const some = Object.entries(by).filter(([, n]) => n > 0);
  const all = some.reduce((sum, [, n]) => sum + n, 0);
  if (!all) return "";
  const why = some
    .map(([reason, n]) => {
      const name = reasonOf(reason as Skipped["reason"]);
      return some.length === 1 ? name : t`${{ count: number(n) }} ${{ reason: name }}`;
    })
    .join(", ");
  return plural({ count: all }, { one: `# field won’t change: ${why}.`, other: `# fields won’t change: ${why}.` });
}

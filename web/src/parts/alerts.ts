import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Finding } from "#/api/findings";
import { abs, type Cents, cents } from "#/lib/money";

type FindingKind = Finding["kind"];

/**
 * The kinds of alerts, the most important first, each with the title of its card and the words for a number of them.
 */
const kinds: Record<FindingKind, { title: MessageDescriptor; some: (n: number) => string }> = {
  duplicate: {
    title: msg`Duplicate charges`,
    some: (n) => plural(n, { one: "# duplicate charge", other: "# duplicate charges" }),
  },
  unusual: { title: msg`Unusual charges`, some: (n) => plural(n, { one: "# unusual", other: "# unusual" }) },
  missed: { title: msg`Missed payments`, some: (n) => plural(n, { one: "# missed", other: "# missed" }) },
  price_change: {
    title: msg`Price changes`,
    some: (n) => plural(n, { one: "# price change", other: "# price changes" }),
  },
  gap: {
    title: msg`Balance mismatches`,
    some: (n) => plural(n, { one: "# balance mismatch", other: "# balance mismatches" }),
  },
  refund: { title: msg`Refunds`, some: (n) => plural(n, { one: "# refund", other: "# refunds" }) },
};

const known = (kind: string) => (Object.hasOwn(kinds, kind) ? kinds[kind as FindingKind] : undefined);

/** Removes duplicates and sorts kinds by importance. Kinds that only a newer server knows come last. */
export function inOrder(some: readonly string[]): string[] {
  return [...Object.keys(kinds).filter((k) => some.includes(k)), ...new Set(some.filter((k) => !known(k)))];
}

export function kindTitle(kind: string): string {
  const k = known(kind);
  return k ? i18n._(k.title) : t`Other alerts`;
}

export const countOf = (kind: string, n: number): string =>
  known(kind)?.some(n) ?? plural(n, { one: "# other alert", other: "# other alerts" });

/** The reason for an alert, in words. Reasons that this page does not know are left out. */
export function why(f: Finding, say: (n: Cents) => string): string {
  const usual = f.usual === null ? "" : say(abs(cents(f.usual)));
  const reasons: Record<Finding["reason"], () => string> = {
    same_amount_twice: () => t`Same amount twice within three days`,
    twice_in_series: () => t`Recurring payment charged twice`,
    in_full: () => t`Full refund`,
    in_part: () => t`Partial refund of ${usual}`,
    much_more_than_usual: () => t`Usually up to ${usual}`,
    large_first_charge: () => t`Large first charge`,
    price_increased: () => t`Price increase from ${usual}`,
    price_decreased: () => t`Price drop from ${usual}`,
    went_up: () => t`Up from ${usual}`,
    went_down: () => t`Down from ${usual}`,
    overdue: () => t`Due, not received`,
    books_hold_too_much: () => t`More money out than the balance shows`,
    balance_below_transactions: () => t`Less money out than the balance shows`,
  };
  return Object.hasOwn(reasons, f.reason) ? reasons[f.reason]() : "";
}

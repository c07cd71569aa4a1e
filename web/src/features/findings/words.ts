import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Finding } from "#/api/findings";
import { abs, type Cents, cents } from "#/lib/money";

/** The kinds as the cards of the screen, the most important first. */
export const kinds: readonly { kind: Finding["kind"]; title: MessageDescriptor }[] = [
  { kind: "duplicate", title: msg`Duplicate charges` },
  { kind: "unusual", title: msg`Unusual charges` },
  { kind: "missed", title: msg`Missed payments` },
  { kind: "price_change", title: msg`Price changes` },
  { kind: "gap", title: msg`Balance mismatches` },
  { kind: "refund", title: msg`Refunds` },
];

/** Why there is an alert, in words. */
export function why(f: Finding, say: (n: Cents) => string): string {
  const usual = f.usual === null ? "" : say(abs(cents(f.usual)));
  switch (f.reason) {
    case "same_amount_twice":
      return t`Same amount twice within three days`;
    case "twice_in_series":
      return t`Recurring payment charged twice`;
    case "in_full":
      return t`Full refund`;
    case "in_part":
      return t`Partial refund of ${usual}`;
    case "much_more_than_usual":
      return t`Usually up to ${usual}`;
    case "large_first_charge":
      return t`Large first charge`;
    case "price_increased":
      return t`Price increase from ${usual}`;
    case "price_decreased":
      return t`Price drop from ${usual}`;
    case "went_up":
      return t`Up from ${usual}`;
    case "went_down":
      return t`Down from ${usual}`;
    case "overdue":
      return t`Due, not received`;
    case "books_hold_too_much":
      return t`More money out than the balance shows`;
    case "balance_below_transactions":
      return t`Less money out than the balance shows`;
  }
}

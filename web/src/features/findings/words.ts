import type { Finding } from "#/api/findings";
import { abs, type Cents, cents } from "#/lib/money";

/** The kinds as the cards of the screen, what needs a person first. */
export const kinds: readonly { kind: Finding["kind"]; title: string }[] = [
  { kind: "duplicate", title: "Charged twice?" },
  { kind: "unusual", title: "Unusual" },
  { kind: "missed", title: "Did not come" },
  { kind: "price_change", title: "New amount" },
  { kind: "gap", title: "Books that do not add up" },
  { kind: "refund", title: "Money back" },
];

/** Why it is a finding, in a sentence. */
export function why(f: Finding, say: (n: Cents) => string): string {
  const usual = f.usual === null ? "" : say(abs(cents(f.usual)));
  switch (f.reason) {
    case "same_amount_twice":
      return "twice within three days, and never else in a year";
    case "twice_in_series":
      return "a recurring payment that came twice";
    case "in_full":
      return "all of what was paid";
    case "in_part":
      return `part of ${usual}`;
    case "much_more_than_usual":
      return `usually not more than ${usual}`;
    case "large_first_charge":
      return "a large first payment";
    case "dearer":
      return `was ${usual}, got dearer`;
    case "cheaper":
      return `was ${usual}, got cheaper`;
    case "went_up":
      return `was ${usual}, went up`;
    case "went_down":
      return `was ${usual}, went down`;
    case "overdue":
      return "expected then, and did not come";
    case "books_hold_too_much":
      return "the payments come to more than the balance says";
    case "books_lack_money":
      return "the payments come to less than the balance says";
  }
}

/** One of the twelve category colours of tokens.css, or 0 for the rest. */
export type Tone = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;

export type Look = { tone: Tone; icon: LookIcon };
export type LookIcon =
  | "coin"
  | "home"
  | "bolt"
  | "fork"
  | "cart"
  | "train"
  | "bag"
  | "child"
  | "heart"
  | "spark"
  | "play"
  | "plane"
  | "shield"
  | "bank"
  | "file"
  | "gift"
  | "phone"
  | "book"
  | "swap"
  | "question";

const primaries: Record<string, Look> = {
  income: { tone: 5, icon: "coin" },
  home: { tone: 7, icon: "home" },
  utilities: { tone: 8, icon: "bolt" },
  food_and_drink: { tone: 2, icon: "fork" },
  transport: { tone: 1, icon: "train" },
  shopping: { tone: 6, icon: "bag" },
  family: { tone: 4, icon: "child" },
  health: { tone: 9, icon: "heart" },
  personal_care: { tone: 9, icon: "spark" },
  entertainment: { tone: 10, icon: "play" },
  travel: { tone: 3, icon: "plane" },
  insurance: { tone: 12, icon: "shield" },
  loans_and_fees: { tone: 11, icon: "bank" },
  taxes_and_government: { tone: 11, icon: "file" },
  gifts_and_donations: { tone: 6, icon: "gift" },
  services: { tone: 12, icon: "phone" },
  transfers: { tone: 0, icon: "swap" },
};

// A look is the same object every time, so that a row with the same look is not drawn again.
const none: Look = { tone: 0, icon: "question" };
const groceries: Look = { tone: 5, icon: "cart" };

/** The colour and picture of a category, by its own name and that of the one above it. */
export function lookOf(slug: string | null | undefined, parent?: string | null): Look {
  if (!slug) return none;
  const look = primaries[parent ?? slug] ?? primaries[slug];
  if (!look) return none;
  return slug.includes("groceries") ? groceries : look;
}

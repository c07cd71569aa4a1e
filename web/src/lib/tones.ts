/** One of the twelve category colors of tokens.css, or 0 for everything else. */
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

/** The colors of the tones 1 to 12, as a category stores them. */
export const colors = [
  "#177c97",
  "#b35c00",
  "#5491f7",
  "#cf7774",
  "#275504",
  "#7b0d65",
  "#005699",
  "#af9100",
  "#804156",
  "#7b5fce",
  "#816a5e",
  "#8693b3",
] as const;

/** The pictures to choose from for a category. */
export const pictures: readonly LookIcon[] = [...new Set(Object.values(primaries).map((l) => l.icon)), "cart", "book"];

// Equal looks are the same object, so that React does not draw an unchanged row again.
const none: Look = { tone: 0, icon: "question" };
const groceries: Look = { tone: 5, icon: "cart" };

/** The color and picture that a category stores. A value that the app does not have counts as not chosen. */
export type Chosen = { icon: string; color: string };

/** The tone and picture that were chosen for a category. Either is missing if it was not chosen. */
export function chosen(c: Chosen | undefined): { tone?: Tone; icon?: LookIcon } {
  const at = colors.indexOf((c?.color.toLowerCase() ?? "") as (typeof colors)[number]);
  const icon = pictures.find((p) => p === c?.icon);
  return { ...(at >= 0 && { tone: (at + 1) as Tone }), ...(icon && { icon }) };
}

const looks = new Map<string, Look>();

/**
 * The color and picture of a category: its own choice, else that of the category above it, else a default for its name.
 */
export function lookOf(slug: string | null | undefined, parent?: string | null, own?: Chosen, above?: Chosen): Look {
  if (!slug) return none;
  const named = slug.includes("groceries") ? groceries : (primaries[parent ?? slug] ?? primaries[slug] ?? none);
  const { tone, icon } = { ...(named !== groceries && chosen(above)), ...chosen(own) };
  if (tone === undefined && icon === undefined) return named;
  const look = { tone: tone ?? named.tone, icon: icon ?? named.icon };
  const key = `${look.tone} ${look.icon}`;
  if (!looks.has(key)) looks.set(key, look);
  return looks.get(key) ?? look;
}

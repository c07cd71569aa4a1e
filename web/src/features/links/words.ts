import type { AccountLink } from "#/api/links";

type Named = Pick<AccountLink, "kind" | "primary_account_name" | "mirror_account_name">;

/** What a kind of link is called. */
export const kindWord = {
  mirror: "The same money, seen twice",
  transfer: "Money moved between your accounts",
} as const;

/** What it means that two accounts belong together. */
export const meaning = (l: Named) =>
  l.kind === "mirror"
    ? `${l.mirror_account_name} repeats payments of ${l.primary_account_name}, as a second card does.`
    : "Money goes from one to the other. It is neither spent nor earned.";

/** What totals do about it, before and after it is decided. */
export function effect(l: Named & Pick<AccountLink, "confidence">): string {
  if (l.confidence === "rejected") return "You said no: both sides count, and it is not asked again.";
  const left = l.kind === "mirror" ? `the payments of ${l.mirror_account_name}` : "both sides";
  return l.confidence === "confirmed"
    ? `Totals leave ${left} out.`
    : `Until you decide, totals count them all. After a yes they leave ${left} out.`;
}

/** The links that wait for a person, and the others. */
export const sorted = <T extends Pick<AccountLink, "confidence">>(links: readonly T[]) => ({
  waiting: links.filter((l) => l.confidence === "auto"),
  decided: links.filter((l) => l.confidence !== "auto"),
});

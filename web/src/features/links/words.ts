import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { AccountLink } from "#/api/links";
import { number, percent } from "#/lib/words";

type Named = Pick<AccountLink, "kind" | "primary_account_name" | "mirror_account_name">;

/** The name of a kind of link. */
export const kindWord = {
  mirror: msg`Duplicate account`,
  transfer: msg`Transfers between your accounts`,
} satisfies Record<AccountLink["kind"], MessageDescriptor>;

/** The meaning of a link between two accounts. */
export const meaning = (l: Named) =>
  l.kind === "mirror"
    ? t`${{ mirror: l.mirror_account_name }} repeats transactions from ${{ primary: l.primary_account_name }}, like an additional card.`
    : t`Money moves between these accounts. It isn’t income or spending.`;

/** The effect of a link on totals. For a suggestion, also the effect that confirming it would have. */
export function effect(l: Named & Pick<AccountLink, "confidence">): string {
  if (l.confidence === "rejected") return t`You said these aren’t related, so both sides count.`;
  const account = l.mirror_account_name;
  if (l.confidence === "confirmed")
    return l.kind === "mirror" ? t`Totals exclude ${account}’s transactions.` : t`Totals exclude both sides.`;
  return l.kind === "mirror"
    ? t`For now, totals count everything. If you confirm, they exclude ${account}’s transactions.`
    : t`For now, totals count everything. If you confirm, they exclude both sides.`;
}

/** The share of possible pairs that match, in words; empty if coffer has not counted them yet. */
export function share(l: Named & Pick<AccountLink, "confidence" | "evidence" | "source">): string {
  if (!l.evidence) return "";
  const of = { share: percent(l.evidence.share), matched: number(l.evidence.matched) };
  const all = { candidates: number(l.evidence.candidates), agreeing: number(l.evidence.agreeing) };
  if (decidedByCoffer(l))
    return t`When coffer linked them, ${{ matched: of.matched }} of ${{ candidates: all.candidates }} transactions that could be transfers matched, ${{ agreeing: all.agreeing }} on the same day.`;
  return l.kind === "mirror"
    ? t`${{ share: of.share }} match: ${{ matched: of.matched }} of ${{ candidates: all.candidates }} transactions in ${{ account: l.mirror_account_name }}.`
    : t`Last check: ${{ matched: of.matched }} of ${{ candidates: all.candidates }} transactions that could be transfers match (${{ share: of.share }}), ${{ agreeing: all.agreeing }} on the same day.`;
}

/** Whether coffer decided the link by itself. */
export const decidedByCoffer = (l: Pick<AccountLink, "confidence" | "source">) =>
  l.confidence === "confirmed" && l.source === "rule";

/**
 * Whether a suggestion is selected at first: a transfer link with a share of at least 80 %. Only people select
 * duplicate accounts.
 */
export const likely = (l: Pick<AccountLink, "kind" | "evidence">) =>
  l.kind === "transfer" && l.evidence !== null && l.evidence.share >= 80;

/** The reason why some pairs of a decided link wait for a person. */
export const unsureWord = (l: Pick<AccountLink, "unsure">) =>
  plural(l.unsure, {
    one: "# match needs review: its category, or another transaction, suggests it’s something else. Until you decide, totals count it.",
    other:
      "# matches need review: their categories, or other transactions, suggest they’re something else. Until you decide, totals count them.",
  });

/**
 * The links in three groups: those that wait for a person, decided ones with pairs that wait for a person, and the
 * rest.
 */
export const sorted = <T extends Pick<AccountLink, "confidence" | "unsure">>(links: readonly T[]) => ({
  waiting: links.filter((l) => l.confidence === "auto"),
  unsure: links.filter((l) => l.confidence !== "auto" && l.unsure > 0),
  decided: links.filter((l) => l.confidence !== "auto" && l.unsure === 0),
});

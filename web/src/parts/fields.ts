import type { Skipped } from "#/api/changes";

const fields: Record<string, string> = { category: "Category", counterparty: "Payee", tag: "Tag", comment: "Comment" };

/** A field in household words. */
export const fieldOf = (field: string) => fields[field.split(":")[0] ?? ""] ?? field.replaceAll("_", " ");

/** Why a field stays as it is. */
export const reasons: Record<Skipped["reason"], string> = {
  changed_since: "changed since by somebody",
  held: "held by a person",
  missing: "no longer there",
  conflict: "in conflict with what is there now",
};

/** How many fields stay as they are, and why: "3 stay: 2 held by a person, 1 changed since by somebody". */
export function stay(by: Record<string, number>): string {
  const why = Object.entries(by).filter(([, n]) => n > 0);
  const all = why.reduce((sum, [, n]) => sum + n, 0);
  if (!all) return "";
  const words = why.map(([reason, n]) => {
    const name = reasons[reason as Skipped["reason"]] ?? reason;
    return why.length === 1 ? name : `${n.toLocaleString("en")} ${name}`;
  });
  return `${all.toLocaleString("en")} ${all === 1 ? "stays" : "stay"}: ${words.join(", ")}.`;
}

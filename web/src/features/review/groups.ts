import { payee, type Row } from "#/api/transactions";
import { type Purse, sum } from "#/lib/money";

/** Payments of one payee that wait, with what they are filed under now. */
export type Group = {
  key: string;
  name: string;
  rows: Row[];
  sums: Purse;
  spellings: number;
  accounts: number;
  /** The category of most of them, and who says so; null if they have none. */
  category: { slug: string; name: string; source: string | null; of: number } | null;
  /** Whether all agree on it, so that one look is enough. */
  sure: boolean;
};

/** What two spellings of one payee have in common: their letters, without numbers and signs. */
export function payeeKey(name: string): string {
  const words = name
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((w) => w !== "" && !/\p{N}/u.test(w));
  return words.join(" ") || name.toLowerCase();
}

export function groupsOf(rows: Row[]): Group[] {
  const by = new Map<string, Row[]>();
  for (const r of rows) {
    // Money in and money out of one payee are two questions: a refund is no purchase.
    const key = `${r.amount < 0 ? "in" : "out"} ${payeeKey(payee(r))}`;
    by.set(key, [...(by.get(key) ?? []), r]);
  }
  return [...by]
    .map(([key, rows]) => group(key, rows))
    .sort((a, b) => Number(b.sure) - Number(a.sure) || b.rows.length - a.rows.length);
}

function group(key: string, rows: Row[]): Group {
  const names = new Map<string, number>();
  const filed = new Map<string, { row: Row; of: number }>();
  for (const r of rows) {
    names.set(payee(r), (names.get(payee(r)) ?? 0) + 1);
    if (r.category)
      filed.set(r.category, { row: filed.get(r.category)?.row ?? r, of: (filed.get(r.category)?.of ?? 0) + 1 });
  }
  const [name] = [...names].sort((a, b) => b[1] - a[1])[0] as [string, number];
  const best = [...filed].sort((a, b) => b[1].of - a[1].of)[0];
  return {
    key,
    name,
    rows,
    sums: sum(rows),
    spellings: new Set(rows.map((r) => r.name)).size,
    accounts: new Set(rows.map((r) => r.account_name)).size,
    category: best
      ? {
          slug: best[0],
          name: best[1].row.category_display_name ?? best[0],
          source: best[1].row.category_source,
          of: best[1].of,
        }
      : null,
    sure: best !== undefined && best[1].of === rows.length && !rows.some((r) => r.pending),
  };
}

const says: Record<string, string> = {
  provider: "The bank says so",
  rule: "A rule says so",
  agent: "An agent says so",
  user: "A person says so",
};

/** Who suggests the category, in words. */
export function reasonOf(g: Group): string {
  if (!g.category) return "The bank gave none, and no rule matched";
  const who = says[g.category.source ?? ""] ?? "It is so";
  return g.category.of === g.rows.length ? who : `${who} for ${g.category.of} of ${g.rows.length}`;
}

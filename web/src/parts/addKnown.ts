import { enteredManually } from "#/lib/provider";
/** The accounts, payees and categories in this file let the page fill in what usually goes with a payee. */
export type Account = { id: string; name: string; currency: string; own: boolean; rank: number };
export type Payee = { name: string; count: number; category?: string; account?: string };
export type Category = { slug: string; name: string; children: { slug: string; name: string }[] };
/** `last` is the account to which this device last added a transaction. */
export type Known = { accounts: Account[]; payees: Payee[]; categories: Category[]; last?: string };

/** The value before the server has responded. */
export const nothing = (): Known => ({ accounts: [], payees: [], categories: [] });

type RawAccount = {
  id: string;
  name: string;
  display_name: string | null;
  iso_currency_code: string;
  provider: string;
  type: string;
  user_id: string | null;
  hidden: boolean;
  closed_on: string | null;
};
type RawRow = { payee_name: string | null; name: string; category: string | null; account_id: string; amount: number };
type RawPayee = { payee_name: string; count: number; category: string | null };
type RawCategory = {
  slug: string;
  display_name: string;
  hidden?: boolean;
  children?: { slug: string; display_name: string; hidden?: boolean }[];
};

/**
 * The accounts to choose from, the likeliest first. Owner and currency weigh most: the member's own accounts and those
 * without an owner come first, and so does the household's currency. Then the type counts: bank accounts, cards,
 * others. Then manual accounts come before connected ones.
 */
export function ranked(all: readonly RawAccount[], user: string, currency: string): Account[] {
  const rank = (a: RawAccount) =>
    (a.user_id === user ? 0 : a.user_id ? 20 : 10) +
    (a.iso_currency_code === currency ? 0 : 15) +
    (a.type === "depository" ? 0 : a.type === "credit" ? 2 : 4) +
    (enteredManually(a) ? 0 : 1);
  return all
    .filter((a) => !a.hidden && !a.closed_on)
    .map((a) => ({
      id: a.id,
      name: a.display_name || a.name,
      currency: a.iso_currency_code,
      own: a.user_id === user,
      rank: rank(a),
    }))
    .sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name));
}

/** The account to use if nobody chose one: the last one used, else the first. */
export const usual = ({ accounts, last }: Known): Account | undefined =>
  accounts.find((a) => a.id === last) ?? accounts[0];

/**
 * The payees to suggest. First come those of the newest transactions, ordered by how often they were paid; payments
 * from the member's own accounts weigh most. Each has its latest category and account. Then come all other payees.
 */
export function suggested(rows: readonly RawRow[], rest: readonly RawPayee[], accounts: readonly Account[]): Payee[] {
  const at = new Map(accounts.map((a) => [a.id, a]));
  const accountNames = new Set(accounts.map((a) => a.name)); // payees of transfers
  const found = new Map<string, Payee & { weight: number }>();
  for (const r of rows) {
    const name = r.payee_name || r.name;
    if (accountNames.has(name)) continue;
    const account = at.get(r.account_id);
    const one = found.get(name) ?? { name, count: 0, weight: 0 };
    one.count++;
    one.weight += (account?.own ? 3 : 1) * (r.amount > 0 ? 1 : 0.2);
    one.category ??= r.category ?? undefined;
    // Prefers the newest of the member's own accounts; without one, it is the newest account.
    if (account && (!one.account || (account.own && !at.get(one.account)?.own))) one.account = account.id;
    found.set(name, one);
  }
  const out: Payee[] = [...found.values()]
    .sort((a, b) => b.weight - a.weight || a.name.localeCompare(b.name))
    .map(({ weight: _, ...p }) => p);
  for (const p of rest) {
    if (!found.has(p.payee_name) && !accountNames.has(p.payee_name)) {
      out.push({ name: p.payee_name, count: p.count, category: p.category ?? undefined });
      found.set(p.payee_name, { name: p.payee_name, count: 0, weight: 0 });
    }
  }
  return out;
}

const folded = (s: string) => s.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();

/** The payees that match the typed text. Those that begin with it come first. */
export function matching(all: readonly Payee[], typed: string, limit = 4): Payee[] {
  const want = folded(typed);
  if (!want) return all.slice(0, limit);
  const score = (p: Payee) => {
    const name = folded(p.name);
    return name.startsWith(want) ? 0 : name.includes(` ${want}`) ? 1 : name.includes(want) ? 2 : 3;
  };
  return all
    .map((p, i) => ({ p, i, s: score(p) }))
    .filter((x) => x.s < 3)
    .sort((a, b) => a.s - b.s || a.i - b.i)
    .slice(0, limit)
    .map((x) => x.p);
}

/** The payee with exactly this name; case and accents do not matter. */
export const named = (all: readonly Payee[], typed: string) => all.find((p) => folded(p.name) === folded(typed));

async function get<T>(path: string): Promise<T> {
  const r = await fetch(`/api/v1${path}`, { credentials: "same-origin" });
  if (!r.ok) throw new Error(String(r.status));
  return (await r.json()) as T;
}

/** Requests everything from the server. */
export async function ask(user: string): Promise<Known> {
  const fields = "payee_name,name,category,account_id,amount";
  const [accounts, recent, payees, categories, household] = await Promise.all([
    get<RawAccount[]>("/accounts"),
    get<{ transactions: RawRow[] }>(`/transactions?limit=300&fields=${encodeURIComponent(fields)}`),
    get<{ payees: RawPayee[] }>("/payees?limit=300&sort_by=count"),
    get<RawCategory[]>("/categories"),
    get<{ default_currency: string }>("/settings"),
  ]);
  const usable = ranked(accounts, user, household.default_currency);
  return {
    accounts: usable,
    payees: suggested(recent.transactions, payees.payees, usable),
    categories: categories
      .filter((c) => !c.hidden)
      .map((c) => ({
        slug: c.slug,
        name: c.display_name,
        children: (c.children ?? []).filter((x) => !x.hidden).map((x) => ({ slug: x.slug, name: x.display_name })),
      })),
  };
}

import { t } from "@lingui/core/macro";
import type { QueryClient } from "@tanstack/react-query";
import { history, payee, type Row, transaction } from "#/api/transactions";
import { toasts } from "#/ui/toasts";

/** The categories that this screen set, by transaction. If someone else changes one, the person gets a message. */
export const recentEdits = new Map<string, string | null>();

type Filed = Pick<Row, "id" | "category" | "category_display_name">;

/** The name of the person, agent or rule that last categorized a transaction. */
async function lastCategorizer(client: QueryClient, id: string): Promise<string> {
  const { annotations } = await client.fetchQuery({ ...history(id), staleTime: 0 });
  const last = annotations.filter((a) => a.kind === "category").at(-1);
  if (!last) return t`Someone`;
  return last.rule_name ? t`Rule “${{ rule: last.rule_name }}”` : last.actor_name;
}

const choice = (now: Filed) =>
  now.category_display_name ? t`It’s now ${{ category: now.category_display_name }}.` : t`It’s now uncategorized.`;

/**
 * Whether someone changed one of these categories after the screen showed it. If so, a message says who, and the new
 * category.
 */
export async function hasConflict(client: QueryClient, shown: ReadonlyMap<string, string | null>, again: () => void) {
  for (const [id, category] of shown) {
    const now = await client.fetchQuery({ ...transaction(id), staleTime: 0 });
    if (now.category === category) continue;
    recentEdits.delete(now.id);
    const who = await lastCategorizer(client, now.id);
    toasts.say({
      bad: true,
      text: [t`${who} changed this first.`, choice(now)].join(" "),
      note: t`Your change wasn’t saved.`,
      undo: again,
      label: t`Use mine`,
    });
    return true;
  }
  return false;
}

/** Shows a message if someone else has replaced a category that this screen had set. */
export async function warnOfLostEdits(client: QueryClient) {
  const rows = client
    .getQueriesData<Row[]>({ queryKey: ["transactions", "rows"] })
    .flatMap(([, data]) => (Array.isArray(data) ? data : []));
  for (const [id, ownCategory] of [...recentEdits].slice(-50)) {
    const row = rows.find((r) => r.id === id);
    if (!row || row.category === ownCategory) continue;
    recentEdits.delete(id);
    const who = await lastCategorizer(client, id);
    toasts.say({ bad: true, text: [t`${who} changed ${{ payee: payee(row) }} after you.`, choice(row)].join(" ") });
  }
}

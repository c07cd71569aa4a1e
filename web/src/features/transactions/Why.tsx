import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { explanation, history, type Transaction } from "#/api/transactions";
import { moment } from "#/lib/dates";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import type { BulkChange } from "./bulkChange";
import { chain, type Link } from "./chain";
import css from "./Details.module.css";

const unlock: BulkChange = {
  set: { category: null },
  ask: () => t`Unlock`,
  text: () => t`Unlocked. Rules and agents can categorize it again`,
};

/** The reason for a value. For a locked value, also when it was set and what the lock means. */
function reasonOf(l: Link): string {
  const { reason, at } = l;
  if (!l.held) return reason;
  return at
    ? t`${reason}, ${{ time: moment(at) }}. Locked: rules and agents won’t change it.`
    : t`${reason}. Locked: rules and agents won’t change it.`;
}

/** Why a transaction has its category: the values and their sources, newest first. */
export function Why({ of, writes, onLetGo }: { of: Transaction; writes: boolean; onLetGo: (d: BulkChange) => void }) {
  const why = useQuery(explanation(of.id));
  const past = useQuery(history(of.id));
  const { name } = useCategories();
  const now = why.data?.fields.find((f) => f.field === "category");
  const category = of.category_display_name;
  const named = (slug: string | null) => (slug ? name(slug) : t`Uncategorized`);
  return (
    <section>
      <h2>{category ? t`Why “${category}”?` : t`Why is it uncategorized?`}</h2>
      {why.error && <Fault error={why.error} what={t`the reason`} retry={() => void why.refetch()} />}
      {!now || !past.data ? (
        !why.error && <Skeleton rows={2} />
      ) : !now.value && past.data.annotations.every((a) => a.kind !== "category") ? (
        <p className="dim">
          <Trans>The bank sent no category, no rule matched, and no one has set one.</Trans>
        </p>
      ) : (
        <ol className={css.chain}>
          {chain(now, past.data.annotations, null).map((l, i) => (
            <li key={l.id}>
              <AuthorBadge author={l.author} large />
              <span className={i === 0 ? css.now : ""}>{l.over ? <s>{named(l.value)}</s> : named(l.value)}</span>
              {l.held ? (
                <Badge mood="held">
                  <Icon name="lock" small /> <Trans>locked</Trans>
                </Badge>
              ) : (
                <span className="small faint">{l.at && moment(l.at)}</span>
              )}
              <span className={css.reason}>{reasonOf(l)}</span>
            </li>
          ))}
        </ol>
      )}
      {writes && now?.held && now.value && (
        <div className={css.letgo}>
          <Button
            icon="lock"
            title={t`Clears the category so rules and agents can set it`}
            onClick={() => onLetGo(unlock)}
          >
            <Trans>Unlock</Trans>
          </Button>
        </div>
      )}
    </section>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { explanation, history, type Transaction } from "#/api/transactions";
import { moment } from "#/lib/dates";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { Button } from "#/ui/Button";
import { Bones } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Seal } from "#/ui/Seal";
import { chain } from "./chain";
import css from "./Details.module.css";
import type { Deed } from "./deed";

const free: Deed = { set: { category: null }, ask: () => "Let go", said: () => "Let go. Rules and agents may file it" };

/** Why a payment is filed as it is: who put each value there, the newest first. */
export function Why({ of, writes, onLetGo }: { of: Transaction; writes: boolean; onLetGo: (d: Deed) => void }) {
  const why = useQuery(explanation(of.id));
  const past = useQuery(history(of.id));
  const { name } = useCategories();
  const now = why.data?.fields.find((f) => f.field === "category");
  const named = of.category_display_name;
  return (
    <section>
      <h2>{named ? `Why it is “${named}”` : "Why it has no category"}</h2>
      {why.error && <Fault error={why.error} what="The reason" retry={() => void why.refetch()} />}
      {!now || !past.data ? (
        !why.error && <Bones rows={2} />
      ) : !now.value && past.data.annotations.every((a) => a.kind !== "category") ? (
        <p className="dim">The bank gave none, no rule matched, and nobody has filed it yet.</p>
      ) : (
        <ol className={css.chain}>
          {chain(now, past.data.annotations, null).map((l, i) => (
            <li key={l.id}>
              <Seal maker={l.maker} large />
              <span className={i === 0 ? css.now : ""}>
                {i === 0 ? l.value ? name(l.value) : "No category" : <s>{l.value ? name(l.value) : "No category"}</s>}
              </span>
              {l.held ? (
                <Badge mood="held">
                  <Icon name="lock" small /> held
                </Badge>
              ) : (
                <span className="small faint">{l.at && moment(l.at)}</span>
              )}
              <span className={css.reason}>
                {l.reason}
                {l.held && `${l.at ? `, ${moment(l.at)}` : ""}. Rules and agents leave it alone.`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {writes && (
        <div className={`${css.letgo} row wrap`}>
          {now?.held && now.value && (
            <Button
              icon="lock"
              title="It loses its category, and rules and agents may file it"
              onClick={() => onLetGo(free)}
            >
              Let go
            </Button>
          )}
          <Link
            className="link"
            to="/rules/new"
            search={{ from: of.short_id, ...(of.category ? { category: of.category } : {}) }}
          >
            Make a rule from this
          </Link>
        </div>
      )}
    </section>
  );
}

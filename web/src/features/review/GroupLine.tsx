import { Link } from "@tanstack/react-router";
import { dayInMonth, monthAbbr, monthOf } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { makerOf } from "#/parts/maker";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Badge, Chip, Tile } from "#/ui/Chip";
import { type Group, reasonOf } from "./groups";
import css from "./ReviewPage.module.css";

const few = 6;

type Props = {
  group: Group;
  current: boolean;
  writes: boolean;
  onChoose: () => void;
  onAgree: () => void;
  onFile: (at: Element) => void;
};

/** One payee of the inbox: what its payments are filed under, who says so, and one step to agree. */
export function GroupLine({ group: g, current, writes, onChoose, onAgree, onFile }: Props) {
  const { look } = useCategories();
  const second = [
    g.spellings > 1 ? `${g.spellings} spellings` : g.rows[0]?.name === g.name ? "" : g.rows[0]?.name,
    g.accounts > 1 ? `${g.accounts} accounts` : g.rows[0]?.account_name,
  ];
  return (
    <li className={`${css.group} ${current ? css.on : ""}`} data-key={g.key} data-current={current || undefined}>
      <div className={css.line}>
        <Tile {...look(g.category?.slug)} large />
        <button type="button" className={css.name} aria-expanded={current} onClick={onChoose}>
          <span className="cut strong">
            <bdi>{g.name}</bdi>
          </span>
          <span className="cut small dim">
            <bdi>{second.filter(Boolean).join(", ")}</bdi>
          </span>
        </button>
        <div className={css.suggested}>
          {writes ? (
            <button
              type="button"
              className={css.chip}
              data-chip
              title="File elsewhere (C)"
              onClick={(e) => onFile(e.currentTarget)}
            >
              <Chip name={g.category?.name ?? null} maker={makerOf(g.category?.source)} />
            </button>
          ) : (
            <Chip name={g.category?.name ?? null} maker={makerOf(g.category?.source)} />
          )}
          <span className="cut small dim">{reasonOf(g)}</span>
        </div>
        <div className={css.sum}>
          {[...g.sums].map(([currency, n]) => (
            <Amount key={currency} value={n} currency={currency} />
          ))}
          <span className="small dim">
            {g.rows.length} {g.rows.length === 1 ? "payment" : "payments"}
          </span>
        </div>
        {writes && (
          <div className={css.act}>
            {g.category ? (
              <Button
                kind={current ? "filled" : "plain"}
                icon="check"
                keyed={current ? "A" : undefined}
                onClick={onAgree}
              >
                Agree
              </Button>
            ) : (
              <Button
                kind={current ? "filled" : "plain"}
                icon="tag"
                keyed={current ? "C" : undefined}
                onClick={(e) => onFile(e.currentTarget)}
              >
                File under
              </Button>
            )}
          </div>
        )}
      </div>
      {current && (
        <ul className={css.inner}>
          {g.rows.slice(0, few).map((r) => (
            <li key={r.id}>
              <span className="dim">
                {dayInMonth(r.date)} {monthAbbr(monthOf(r.date))}
              </span>
              <Link className="cut" to="/transactions" search={{ open: r.short_id }}>
                <bdi>{r.name}</bdi>
              </Link>
              <span className={`cut dim ${css.account}`}>
                <bdi>{r.account_name}</bdi>
              </span>
              {r.pending ? <Badge mood="pending">pending</Badge> : <span />}
              <Amount value={cents(r.amount)} currency={r.iso_currency_code} quiet={r.pending} />
            </li>
          ))}
          {g.rows.length > few && <li className="small dim">and {g.rows.length - few} more</li>}
        </ul>
      )}
    </li>
  );
}

import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { payee, type Row } from "#/api/transactions";
import { dayInMonth, monthName } from "#/lib/dates";
import { cents } from "#/lib/money";
import type { Look } from "#/lib/tones";
import { makerOf } from "#/parts/maker";
import { Amount, useMoney } from "#/ui/Amount";
import { Badge, Chip, Tag, Tile } from "#/ui/Chip";
import css from "./List.module.css";
import type { Month } from "./timeline";

/** The heading of a month: how many payments, what came in and went out. */
export function MonthLine({ month, top }: { month: Month; top: number }) {
  const money = useMoney();
  return (
    <div className={css.month} style={{ transform: `translateY(${top}px)` }} role="row">
      <span className={css.title} role="rowheader">
        {monthName(month.month)}
      </span>
      <span className={css.sums} role="cell">
        <span>{month.rows.toLocaleString("en")} payments</span>
        {month.sums.slice(0, 2).map((s) => (
          <span key={s.currency}>
            {s.in > 0n && <span className={css.in}>in {money(s.in, s.currency)}</span>}
            {s.out > 0n && <span>out {money(s.out, s.currency)}</span>}
          </span>
        ))}
      </span>
    </div>
  );
}

/** A row that is still loading. */
export function BoneLine({ top }: { top: number }) {
  return (
    <div className={css.line} style={{ transform: `translateY(${top}px)` }} role="row" aria-busy="true">
      <span className={css.bone} role="cell" />
    </div>
  );
}

type LineProps = {
  row: Row;
  index: number;
  top: number;
  look: Look;
  newDay: boolean;
  current: boolean;
  open: boolean;
  chosen: boolean;
  writes: boolean;
  onChoose: (id: string) => void;
  onFile: (at: Element, index: number) => void;
};

export const Line = memo(function Line(p: LineProps) {
  const { row } = p;
  const name = payee(row);
  const tags = row.tags.filter((t) => t !== "needs-review");
  return (
    <div
      className={`${css.line} ${p.current || p.open ? css.on : ""}`}
      style={{ transform: `translateY(${p.top}px)` }}
      role="row"
      data-index={p.index}
    >
      <span className={css.check} role="cell">
        {p.writes && (
          <label>
            <input
              type="checkbox"
              checked={p.chosen}
              aria-label={`Choose ${name}`}
              onChange={() => p.onChoose(row.id)}
            />
          </label>
        )}
      </span>
      <span className={`${css.day} ${p.newDay ? "" : css.same}`} role="cell">
        {dayInMonth(row.date)}
      </span>
      <span className={css.tile} role="cell">
        <Tile tone={p.look.tone} icon={p.look.icon} />
      </span>
      <span className={css.who} role="cell">
        <Link className="cut" to="/transactions" search={(s) => ({ ...s, open: row.short_id })} resetScroll={false}>
          <bdi>{name}</bdi>
        </Link>
        {row.pending && <Badge mood="pending">pending</Badge>}
        {row.linked_transaction_id && <Badge>own transfer</Badge>}
        <span className={css.tags}>
          {tags.map((t) => (
            <Tag key={t} slug={t} />
          ))}
        </span>
      </span>
      <span className={css.cat} role="cell">
        {p.writes ? (
          <button
            type="button"
            className={css.file}
            data-file
            title="File under another category (C)"
            onClick={(e) => p.onFile(e.currentTarget, p.index)}
          >
            <Chip name={row.category_display_name} maker={makerOf(row.category_source)} />
          </button>
        ) : (
          <Chip name={row.category_display_name} maker={makerOf(row.category_source)} />
        )}
      </span>
      <span className={`${css.account} cut`} role="cell">
        <bdi>{row.account_name}</bdi>
      </span>
      <span className={css.amount} role="cell">
        <Amount value={cents(row.amount)} currency={row.iso_currency_code} quiet={row.pending || row.excluded} />
      </span>
    </div>
  );
});

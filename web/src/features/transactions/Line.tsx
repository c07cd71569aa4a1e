import { plural, t } from "@lingui/core/macro";
import { type MouseEvent as Click, memo } from "react";
import { payee, type Row } from "#/api/transactions";
import { dayInMonth, monthName } from "#/lib/dates";
import { cents } from "#/lib/money";
import type { Look } from "#/lib/tones";
import { transactions } from "#/lib/words";
import { authorOf } from "#/parts/author";
import { pairWord } from "#/parts/pairs";
import { Amount, useMoney } from "#/ui/Amount";
import { Badge, Chip, Tag, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./List.module.css";
import type { Month } from "./timeline";

/** The heading of a month: how many transactions, money in and money out. */
export const MonthLine = memo(function MonthLine({ month }: { month: Month }) {
  const money = useMoney();
  const all = month.sums.flatMap((s) => [
    ...(s.in > 0n ? [t`in ${{ amount: money(s.in, s.currency) }}`] : []),
    ...(s.out > 0n ? [t`out ${{ amount: money(s.out, s.currency) }}`] : []),
  ]);
  return (
    <div className={css.month} role="row">
      <span className={css.title} role="rowheader">
        {monthName(month.month)}
      </span>
      <span className={css.sums} role="cell" title={all.join(", ")}>
        <span>
          {transactions(month.rows)}
          {month.sums.length > 2 && ` · ${plural(month.sums.length, { one: "# currency", other: "# currencies" })}`}
        </span>
        {month.sums.slice(0, 2).map((s) => (
          <span key={s.currency}>
            {s.in > 0n && <span className={css.in}>{t`in ${{ amount: money(s.in, s.currency) }}`}</span>}
            {s.out > 0n && <span>{t`out ${{ amount: money(s.out, s.currency) }}`}</span>}
          </span>
        ))}
      </span>
    </div>
  );
});

/** A row that is still loading. */
export const SkeletonLine = () => (
  <div className={css.line} role="row" aria-busy="true">
    <span className={css.bone} role="cell" />
  </div>
);

const Filed = ({ row }: { row: Row }) => (
  <Chip
    name={row.category_display_name}
    author={authorOf(row.category_source)}
    held={row.category !== null && row.category_source === "user"}
  />
);

/**
 * Whether a click opens something on this page. Clicks with other buttons or modifier keys open a new tab or window.
 */
function here(e: Click): boolean {
  if (e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return false;
  e.preventDefault();
  return true;
}

type LineProps = {
  row: Row;
  /**
   * The address of this list up to the id of the open transaction. A router's link would be as costly as the rest of
   * the row.
   */
  address: string;
  index: number;
  look: Look;
  newDay: boolean;
  current: boolean;
  open: boolean;
  chosen: boolean;
  writes: boolean;
  onChoose: (index: number, upTo: boolean) => void;
  onFile: (at: Element, index: number, row: Row) => void;
  onOpen: (id: string) => void;
};

export const Line = memo(function Line(p: LineProps) {
  const { row } = p;
  const name = payee(row);
  const marked = p.current || p.open;
  const tags = row.tags.filter((tag) => tag !== "needs-review");
  // The bank's other texts, unless they repeat the name.
  const noise = [row.name === name ? null : row.name, row.detail].filter(Boolean).join(" · ");
  const comments = plural(row.comment_count, { one: "# comment", other: "# comments" });
  return (
    <div
      className={`${css.line} ${marked ? css.on : ""}`}
      role="row"
      data-index={p.index}
      data-current={marked || undefined}
    >
      <span className={css.check} role="cell">
        {p.writes && (
          <label>
            <input
              type="checkbox"
              checked={p.chosen}
              aria-label={t`Select ${name}`}
              onChange={(e) => p.onChoose(p.index, (e.nativeEvent as MouseEvent).shiftKey === true)}
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
        <a className="cut" href={`${p.address}${row.short_id}`} onClick={(e) => here(e) && p.onOpen(row.short_id)}>
          <bdi>{name}</bdi>
        </a>
        {row.pending && <Badge mood="pending">{t`pending`}</Badge>}
        {pairWord(row) && <Badge>{pairWord(row)}</Badge>}
        {row.excluded_reason && <Badge>{t`excluded`}</Badge>}
        {row.parent_id && <Badge>{t`split`}</Badge>}
        {row.comment_count > 0 && (
          <span className={css.notes} title={comments}>
            <Icon name="note" small />
            <span className="sr">{comments}</span>
          </span>
        )}
        <span className={css.rest}>
          <span className={css.tags} title={tags.map((tag) => `#${tag}`).join(" ") || undefined}>
            {tags.map((tag) => (
              <Tag key={tag} slug={tag} />
            ))}
          </span>
          {noise && (
            <span className={`${css.noise} cut`} title={noise}>
              <bdi>{noise}</bdi>
            </span>
          )}
        </span>
      </span>
      <span className={css.cat} role="cell">
        {p.writes ? (
          <button
            type="button"
            className={css.file}
            data-file
            title={t`Change category (C)`}
            onClick={(e) => p.onFile(e.currentTarget, p.index, row)}
          >
            <Filed row={row} />
          </button>
        ) : (
          <Filed row={row} />
        )}
      </span>
      <span className={`${css.account} cut`} role="cell">
        <bdi>{row.account_name}</bdi>
      </span>
      <span className={css.amount} role="cell">
        <Amount
          value={cents(row.amount)}
          currency={row.iso_currency_code}
          quiet={row.pending || row.excluded || row.excluded_reason !== null}
        />
      </span>
    </div>
  );
});

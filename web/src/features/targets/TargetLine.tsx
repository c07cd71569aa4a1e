import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Target } from "#/api/targets";
import { dayShort, firstDay, lastDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Sum, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./TargetsPage.module.css";
import { bar, planned, standing } from "./words";

type Props = { target: Target; month: string; onEdit?: () => void };

/** The first line of a budget: its name, which opens the transactions, the amount spent, and a button to edit it. */
function Head({ target, month, onEdit }: Props) {
  const money = useMoney();
  const { look, name } = useCategories();
  return (
    <div className={css.head}>
      <Tile {...look(target.category)} />
      <Link
        className={`link ${css.name}`}
        to="/transactions"
        search={{ category: target.category, from: firstDay(month), to: lastDay(month) }}
      >
        {name(target.category)}
      </Link>
      <span className={css.figures}>
        <Sum value={cents(target.spent)} currency={target.iso_currency_code} />{" "}
        {target.available !== null && (
          <span className="dim">{planned(target, (c) => money(c, target.iso_currency_code))}</span>
        )}
      </span>
      {onEdit && (
        <Button
          kind="quiet"
          icon="edit"
          aria-label={t`Edit ${{ category: name(target.category) }} budget`}
          onClick={onEdit}
        />
      )}
    </div>
  );
}

/** A budget with a bar: how much is spent, and a mark for how much is expected by now. */
export function TargetLine(p: Props) {
  const { target } = p;
  const money = useMoney();
  const { text, mood } = standing(target, (c) => money(c, target.iso_currency_code));
  const { value, end, tick } = bar(target);
  const running = target.pace > 0 && target.pace < 100;
  return (
    <li className={css.item}>
      <Head {...p} />
      {target.available !== null && (
        <svg className={css.bar} aria-hidden="true">
          <rect className={css.track} y="3" width="100%" height="8" rx="4" />
          {end !== undefined && <rect className={css.over} y="3" width="100%" height="8" rx="4" />}
          <rect className={css.value} y="3" width={`${value}%`} height="8" rx="4" />
          {end !== undefined && <rect className={css.mark} x={`${end}%`} width="2" height="14" />}
          {end === undefined && running && <rect className={css.mark} x={`${tick}%`} width="2" height="14" />}
        </svg>
      )}
      <p className={`small ${mood ? css[mood] : "dim"} ${css.words}`}>{text}</p>
    </li>
  );
}

/**
 * A budget of fixed costs: its payments, either paid or with the day they are due. It has no bar, because fixed costs
 * come on certain days.
 */
export function FixedLine(p: Props & { today: string }) {
  const { target, today } = p;
  const money = useMoney();
  const { text, mood } = standing(target, (c) => money(c, target.iso_currency_code));
  const payments = target.payments ?? [];
  return (
    <li className={css.item}>
      <Head {...p} />
      <ul className={css.payments}>
        {payments.map((x) => (
          <li key={x.recurring_id + x.date + x.paid} className={x.paid ? css.paid : ""}>
            <Icon name={x.paid ? "check" : "calendar"} small />
            <Link className="link" to="/recurring/$id" params={{ id: x.recurring_id }}>
              <bdi>{x.name}</bdi>
            </Link>
            <span className={css.when}>
              {x.paid ? (
                <Trans>Paid {{ day: dayShort(x.date, today) }}</Trans>
              ) : (
                <Trans>Due {{ day: dayShort(x.date, today) }}</Trans>
              )}
            </span>
            <Sum value={cents(x.amount)} currency={target.iso_currency_code} />
          </li>
        ))}
      </ul>
      {payments.length === 0 && (
        <p className="small dim">
          <Trans>Nothing due this month.</Trans>
        </p>
      )}
      {(mood || target.state === "ahead") && <p className={`small ${mood ? css[mood] : "dim"}`}>{text}</p>}
    </li>
  );
}

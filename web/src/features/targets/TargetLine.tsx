import { Link } from "@tanstack/react-router";
import type { Target } from "#/api/targets";
import { firstDay, lastDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Sum, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Tile } from "#/ui/Chip";
import css from "./TargetsPage.module.css";
import { earlier, filled, standing } from "./words";

/** A target: how much of it is spent, beside how much of the month is gone. Its name opens the payments. */
export function TargetLine(p: { target: Target; month: string; onEdit?: () => void }) {
  const t = p.target;
  const money = useMoney();
  const { look, name } = useCategories();
  const say = (c: bigint) => money(c, t.iso_currency_code);
  const { text, mood } = standing(t, say);
  const live = t.available !== null;
  const running = t.pace > 0 && t.pace < 100;
  return (
    <li className={`${css.item} c${look(t.category).tone}`}>
      <div className={css.head}>
        <Tile {...look(t.category)} />
        <Link
          className={`link ${css.name}`}
          to="/transactions"
          search={{ category: t.category, from: firstDay(p.month), to: lastDay(p.month) }}
        >
          {name(t.category)}
        </Link>
        <Sum value={cents(t.spent)} currency={t.iso_currency_code} />
        {p.onEdit && (
          <Button
            kind="quiet"
            icon="edit"
            aria-label={`Change the target for ${name(t.category)}`}
            onClick={p.onEdit}
          />
        )}
      </div>
      {live && (
        <svg className={`${css.bar} ${mood === "bad" ? css.bad : ""}`} aria-hidden="true">
          <rect className={css.track} y="3" width="100%" height="6" rx="3" />
          <rect className={css.value} y="3" width={`${filled(t)}%`} height="6" rx="3" />
          {running && <rect className={css.pace} x={`${t.pace}%`} width="2" height="12" />}
        </svg>
      )}
      <p className={`small dim ${css.words}`}>
        <span className={mood ? css[mood] : ""}>{text}</span>
        <span>
          of {say(cents(t.amount))}
          {earlier(t, say)}
          {live && running && ` · ${t.pace} % of the month is gone`}
        </span>
      </p>
    </li>
  );
}

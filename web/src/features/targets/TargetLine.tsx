import { t } from "@lingui/core/macro";
import { Link } from "@tanstack/react-router";
import type { Target } from "#/api/targets";
import { firstDay, lastDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Sum, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Tile } from "#/ui/Chip";
import css from "./TargetsPage.module.css";
import { filled, planned, standing } from "./words";

/** A budget: how much of it is spent, and how much of the month has passed. Its name opens the transactions. */
export function TargetLine(p: { target: Target; month: string; onEdit?: () => void }) {
  const { target } = p;
  const money = useMoney();
  const { look, name } = useCategories();
  const say = (c: bigint) => money(c, target.iso_currency_code);
  const { text, mood } = standing(target, say);
  const live = target.available !== null;
  const running = target.pace > 0 && target.pace < 100;
  return (
    <li className={`${css.item} c${look(target.category).tone}`}>
      <div className={css.head}>
        <Tile {...look(target.category)} />
        <Link
          className={`link ${css.name}`}
          to="/transactions"
          search={{ category: target.category, from: firstDay(p.month), to: lastDay(p.month) }}
        >
          {name(target.category)}
        </Link>
        <Sum value={cents(target.spent)} currency={target.iso_currency_code} />
        {p.onEdit && (
          <Button
            kind="quiet"
            icon="edit"
            aria-label={t`Edit ${{ category: name(target.category) }} budget`}
            onClick={p.onEdit}
          />
        )}
      </div>
      {live && (
        <svg className={`${css.bar} ${mood === "bad" ? css.bad : ""}`} aria-hidden="true">
          <rect className={css.track} y="3" width="100%" height="6" rx="3" />
          <rect className={css.value} y="3" width={`${filled(target)}%`} height="6" rx="3" />
          {running && <rect className={css.pace} x={`${target.pace}%`} width="2" height="12" />}
        </svg>
      )}
      <p className={`small dim ${css.words}`}>
        <span className={mood ? css[mood] : ""}>{text}</span>
        <span>
          {[planned(target, say), live && running && t`${{ pace: target.pace }}% of the month has passed`]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </p>
    </li>
  );
}

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { AppliedPlan, PlanItem } from "#/api/plans";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { fieldOf, reasonOf } from "#/parts/fields";
import { Amount } from "#/ui/Amount";
import { Badge, Chip } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Fold, Item } from "#/ui/Lines";
import { pretty } from "./lines";
import { aboutOf, isApproval } from "./planned";
import css from "./Workflows.module.css";

type Props = {
  item: PlanItem;
  out: boolean;
  /** The category that this item would approve, null if there is none. Undefined if the plan is already decided. */
  approves?: string | null;
  skipped?: AppliedPlan["skipped"][number]["reason"];
  onToggle?: () => void;
};

/** One field of a plan, before → after, with a box to exclude it. */
export function PlanLine({ item: i, out, approves, skipped, onToggle }: Props) {
  const of = i.transaction;
  const name = of ? of.payee_name : aboutOf(i);
  const more = i.record ?? i.arguments;
  return (
    <Item
      below
      mark={
        onToggle && (
          <label className={css.pick}>
            <span className="sr">{t`Apply ${{ field: fieldOf(i.field) }} for ${name}`}</span>
            <input type="checkbox" checked={!out} onChange={onToggle} />
          </label>
        )
      }
      name={
        of && i.transaction_id ? (
          <Link className={css.payee} to="/transactions" search={{ open: i.transaction_id }}>
            <bdi>{name}</bdi>
          </Link>
        ) : (
          <bdi>{name}</bdi>
        )
      }
      hint={
        <>
          {!more && <Becomes item={i} approves={approves} />}
          {i.note && <bdi>{i.note}</bdi>}
        </>
      }
      end={
        <>
          {skipped && <Badge mood="held">{reasonOf(skipped)}</Badge>}
          {of && <Amount value={cents(of.amount)} currency={of.iso_currency_code} />}
        </>
      }
    >
      {more !== null && more !== undefined && (
        <Fold name={i.subject === "call" ? t`Show request` : t`Show all`}>
          <pre className={css.json}>{pretty(more)}</pre>
        </Fold>
      )}
    </Item>
  );
}

function Becomes({ item: i, approves }: Pick<Props, "item" | "approves">) {
  const { look, name } = useCategories();
  const filed = i.field === "category";
  const chip = (v: string | null, old: boolean) => {
    if (filed) return <Chip name={v ? name(v) : null} tone={look(v).tone} old={old && v !== null} />;
    if (v !== null && i.field.startsWith("comment")) return <bdi className={css.comment}>{v}</bdi>;
    return v === null ? <span className="faint">{t`empty`}</span> : <Chip name={v} old={old} />;
  };
  if (isApproval(i))
    return (
      <span className={css.become}>
        {approves === undefined ? (
          t`Approves the current category`
        ) : (
          <Trans>
            Approves <Chip name={approves && name(approves)} tone={look(approves).tone} />
          </Trans>
        )}
      </span>
    );
  return (
    <span className={css.become}>
      {fieldOf(i.field)}
      {chip(i.before, true)}
      <Icon name="arrow" small />
      <span className="sr">{t`changes to`}</span>
      {chip(i.after, false)}
    </span>
  );
}

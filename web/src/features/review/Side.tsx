import { i18n } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { dayShort, localDay } from "#/lib/dates";
import { abs } from "#/lib/money";
import { transactions } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Progress } from "#/ui/Form";
import { filedUnder, type Group } from "./groups";
import css from "./ReviewPage.module.css";

const keys = [
  ["J K", msg`Next / previous`],
  ["A", msg`Approve payee`],
  ["1–9", msg`Pick suggested category`],
  ["C", msg`Choose another category`],
  ["R", msg`Create rule`],
  ["S", msg`Skip`],
  ["Z", msg`Undo`],
] as const;

/** The column beside the list: the progress, more about the selected payee, and the keyboard shortcuts. */
export function Side({ group: g, closed, left }: { group: Group | undefined; closed: number; left: number }) {
  const money = useMoney();
  const { name } = useCategories();
  const today = localDay(new Date());
  const all = i18n.number(closed + left);
  const oneDay = g?.first_date === g?.last_date;
  return (
    <div className={css.side}>
      {closed > 0 && (
        <Card title={plural({ done: closed }, { one: `# of ${all} reviewed`, other: `# of ${all} reviewed` })}>
          <Progress label={t`Review progress`} done={closed} of={closed + left} />
        </Card>
      )}
      {g && (
        <Card title={<bdi>{g.payee_name}</bdi>}>
          <dl className={css.facts}>
            <dt>
              <Trans>To review</Trans>
            </dt>
            <dd>{transactions(g.count)}</dd>
            <dt>{oneDay ? t`Date` : t`Dates`}</dt>
            <dd>
              {dayShort(g.first_date, today)}
              {!oneDay && ` – ${dayShort(g.last_date, today)}`}
            </dd>
            <dt>
              <Trans>Total</Trans>
            </dt>
            <dd>
              {g.sums
                .map((s) => {
                  const amount = money(abs(s.total), s.currency);
                  if (s.total === 0n) return amount;
                  return s.total < 0n ? t`${amount} in` : t`${amount} out`;
                })
                .join(", ")}
            </dd>
            <dt>
              <Trans>Categories</Trans>
            </dt>
            <dd>
              {filedUnder(g)
                .map((c) => `${c.category ? name(c.category) : t`Uncategorized`} ${i18n.number(c.count)}`)
                .join(", ")}
            </dd>
          </dl>
        </Card>
      )}
      <Card title={t`Keyboard shortcuts`}>
        <dl className={css.keys}>
          {keys.map(([k, does]) => (
            <div key={k}>
              <dt>
                {k.split(" ").map((x) => (
                  <kbd key={x}>{x}</kbd>
                ))}
              </dt>
              <dd>{i18n._(does)}</dd>
            </div>
          ))}
        </dl>
      </Card>
    </div>
  );
}

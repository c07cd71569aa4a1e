import { dayShort, localDay } from "#/lib/dates";
import { payments } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Progress } from "#/ui/Form";
import { filedUnder, type Group } from "./groups";
import css from "./ReviewPage.module.css";

const keys = [
  ["J K", "next, previous"],
  ["A", "agree for the whole payee"],
  ["1 9", "file under what is offered"],
  ["C", "file under another category"],
  ["R", "make a rule from it"],
  ["S", "leave for later"],
  ["Z", "undo"],
] as const;

/** Beside the inbox: how far it is done, more about the chosen payee, and the keys. */
export function Side({ group: g, closed, left }: { group: Group | undefined; closed: number; left: number }) {
  const money = useMoney();
  const { name } = useCategories();
  const today = localDay(new Date());
  const oneDay = g?.first_date === g?.last_date;
  return (
    <div className={css.side}>
      {closed > 0 && (
        <Card title={`${closed.toLocaleString("en")} of ${(closed + left).toLocaleString("en")} done`}>
          <Progress label="Done of the inbox" done={closed} of={closed + left} />
        </Card>
      )}
      {g && (
        <Card title={<bdi>{g.payee_name}</bdi>}>
          <dl className={css.facts}>
            <dt>Waiting</dt>
            <dd>{payments(g.count)}</dd>
            <dt>{oneDay ? "On" : "Between"}</dt>
            <dd>
              {dayShort(g.first_date, today)}
              {!oneDay && ` and ${dayShort(g.last_date, today)}`}
            </dd>
            <dt>In all</dt>
            <dd>
              {g.sums
                .map((s) => `${money(s.total < 0n ? -s.total : s.total, s.currency)} ${s.total < 0n ? "in" : "out"}`)
                .join(", ")}
            </dd>
            <dt>Filed under</dt>
            <dd>
              {filedUnder(g)
                .map((c) => `${c.category ? name(c.category) : "No category"} ${c.count}`)
                .join(", ")}
            </dd>
          </dl>
        </Card>
      )}
      <Card title="Keys">
        <dl className={css.keys}>
          {keys.map(([k, does]) => (
            <div key={k}>
              <dt>
                {k.split(" ").map((x) => (
                  <kbd key={x}>{x}</kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Card>
    </div>
  );
}

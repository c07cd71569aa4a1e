import { dayShort } from "#/lib/dates";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import type { Group } from "./groups";
import css from "./ReviewPage.module.css";

const keys = [
  ["J K", "next, previous"],
  ["A", "agree for the whole payee"],
  ["C", "file under another category"],
  ["S", "leave for later"],
  ["Z", "undo"],
] as const;

/** Beside the inbox: more about the chosen payee, and the keys. */
export function Side({ group: g }: { group: Group | undefined }) {
  const money = useMoney();
  const days = g?.rows.map((r) => r.date).sort() ?? [];
  const today = new Date().toISOString();
  return (
    <div className={css.side}>
      {g && (
        <Card title={<bdi>{g.name}</bdi>}>
          <dl className={css.facts}>
            <dt>Waiting</dt>
            <dd>{g.rows.length === 1 ? "1 payment" : `${g.rows.length} payments`}</dd>
            <dt>Between</dt>
            <dd>
              {dayShort(days[0] ?? "2000-01-01", today)} and {dayShort(days.at(-1) ?? "2000-01-01", today)}
            </dd>
            <dt>In all</dt>
            <dd>{[...g.sums].map(([c, n]) => `${money(n < 0n ? -n : n, c)} ${n < 0n ? "in" : "out"}`).join(", ")}</dd>
            <dt>Filed under</dt>
            <dd>
              {[...new Set(g.rows.map((r) => r.category_display_name ?? "No category"))]
                .map(
                  (name) =>
                    `${name} ${g.rows.filter((r) => (r.category_display_name ?? "No category") === name).length}`,
                )
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

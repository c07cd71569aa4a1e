import { type Account, type DailyBalance, owed, removeBalance } from "#/api/accounts";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { Sum } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fold, Item, Lines } from "#/ui/Lines";
import { touched } from "./SetBalance";

const few = 3;

/** The balances that somebody set, newest first. Where one is taken back, the bank's or a statement's applies again. */
export function ByHand({ account: a, days, may }: { account: Account; days: readonly DailyBalance[]; may: boolean }) {
  const today = localDay(new Date());
  const remove = useDeed({
    act: (day: string) => removeBalance(a.id, day),
    touches: touched,
    said: (_, day) => `The balance set for ${dayShort(day, today)} is removed`,
    change: (r) => r.change,
  });
  const set = days.filter((d) => d.source === "manual").toReversed();
  if (set.length === 0) return null;
  const lines = (some: readonly DailyBalance[]) => (
    <Lines>
      {some.map((d) => (
        <Item
          key={d.day}
          name={dayShort(d.day, today)}
          hint={owed(a.type) ? "Owed when the day was over" : "When the day was over"}
          end={
            <>
              {d.current !== null && <Sum value={cents(d.current)} currency={a.iso_currency_code} />}
              {may && (
                <Button
                  icon="trash"
                  aria-label={`Remove the balance of ${dayShort(d.day, today)}`}
                  disabled={remove.isPending}
                  onClick={() => remove.mutate(d.day)}
                />
              )}
            </>
          }
        />
      ))}
    </Lines>
  );
  return (
    <Card title="Balances set by hand" flush>
      {lines(set.slice(0, few))}
      {set.length > few && <Fold name={`${set.length - few} older`}>{lines(set.slice(few))}</Fold>}
    </Card>
  );
}

import { plural, t } from "@lingui/core/macro";
import { type Account, type DailyBalance, owed, removeBalance } from "#/api/accounts";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useAction } from "#/parts/useAction";
import { Sum } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fold, Item, Lines } from "#/ui/Lines";
import { touched } from "./touched";

const few = 3;

/**
 * The balances that a person entered, newest first. If one is removed, the balance of the bank or a statement applies
 * again.
 */
export function ByHand({ account: a, days, may }: { account: Account; days: readonly DailyBalance[]; may: boolean }) {
  const today = localDay(new Date());
  const remove = useAction({
    act: (day: string) => removeBalance(a.id, day),
    touches: touched,
    text: (_, day) => t`Balance for ${{ day: dayShort(day, today) }} removed`,
    change: (r) => r.change,
  });
  const set = days.filter((d) => d.source === "manual").toReversed();
  if (set.length === 0) return null;
  const lines = (balances: readonly DailyBalance[]) => (
    <Lines>
      {balances.map((d) => (
        <Item
          key={d.day}
          name={dayShort(d.day, today)}
          hint={owed(a.type) ? t`Owed at end of day` : t`End of day`}
          end={
            <>
              {d.current !== null && <Sum value={cents(d.current)} currency={a.iso_currency_code} />}
              {may && (
                <Button
                  icon="trash"
                  aria-label={t`Remove balance for ${{ day: dayShort(d.day, today) }}`}
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
    <Card title={t`Entered balances`} flush>
      {lines(set.slice(0, few))}
      {set.length > few && (
        <Fold name={plural(set.length - few, { one: "# older", other: "# older" })}>{lines(set.slice(few))}</Fold>
      )}
    </Card>
  );
}

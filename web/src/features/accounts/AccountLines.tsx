import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { type Account, accountName, owed } from "#/api/accounts";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Sum } from "#/ui/Amount";
import { Freshness } from "#/ui/Chip";
import { Item } from "#/ui/Lines";
import css from "./Accounts.module.css";
import { staleBalance } from "./balanceCheck";
import { about } from "./words";

/** A list of accounts. Debts have a minus, and an unknown balance is marked. */
export function AccountLines(p: { accounts: Account[]; bankOf?: (a: Account) => string | null | undefined }) {
  const today = localDay(new Date());
  return (
    <>
      {p.accounts.map((a) => (
        <Item
          key={a.id}
          name={<bdi>{accountName(a)}</bdi>}
          hint={<bdi>{about(a, p.bankOf?.(a))}</bdi>}
          open={(name) => (
            <Link to="/accounts/$id" params={{ id: a.short_id }} search={{}}>
              {name}
            </Link>
          )}
          end={
            <span className={css.worth}>
              <Freshness old={staleBalance(a, today)}>
                {a.balance_date ? dayShort(a.balance_date, today) : ""}
              </Freshness>
              <Worth account={a} />
            </span>
          }
        />
      ))}
    </>
  );
}

/** The worth of an account: its balance, or a debt with a minus. */
export function Worth({ account: a }: { account: Account }) {
  if (a.balance_today === null)
    return (
      <span className="dim">
        <Trans>No balance</Trans>
      </span>
    );
  const value = cents(a.balance_today);
  return <Sum value={owed(a.type) ? -value : value} currency={a.iso_currency_code} />;
}

import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Account } from "#/api/accounts";
import type { Connection, ConnectionHealth } from "#/api/connections";
import { session } from "#/api/session";
import { localDay } from "#/lib/dates";
import { fromFiles } from "#/lib/provider";
import { signInAgain, useSync, wantsSignIn } from "#/parts/banks";
import { EmptyBank, emptied } from "#/parts/EmptyBank";
import { sentence } from "#/parts/edit";
import { Syncing } from "#/parts/Syncing";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { AccountLines } from "./AccountLines";
import { covering, missing, stateOf } from "./words";

type Props = {
  bank: Connection;
  health?: ConnectionHealth;
  accounts: Account[];
  running?: string;
  may: boolean;
  /** Whether the bank's button may be filled. Only one button of a screen is. */
  filled: boolean;
};

/** A bank: its state in words, what it needs, and its accounts. */
export function Bank({ bank: b, health, accounts, running, may, filled }: Props) {
  const sync = useSync(running);
  const signIn = wantsSignIn(b);
  const fetches = !fromFiles(b) && b.status !== "disconnected" && b.status !== "pending_reauth";
  return (
    <Card flush warn={b.status === "pending_reauth" || b.status === "error"}>
      <Lines>
        <Item
          mark={<Tile tone={0} icon={fromFiles(b) ? "file" : "bank"} large />}
          name={<h2>{<bdi>{b.institution_name ?? t`Bank`}</bdi>}</h2>}
          hint={stateOf(b)}
          open={(name) => (
            <Link to="/banks/$id" params={{ id: b.short_id }}>
              {name}
            </Link>
          )}
          end={
            may &&
            fetches &&
            !sync.job && (
              <Button icon="sync" disabled={sync.starting} onClick={() => sync.start(b.id)}>
                <Trans>Sync now</Trans>
              </Button>
            )
          }
        >
          {sync.job && <Syncing job={sync.job} onEnd={sync.over} />}
          <BanksBehind bank={b} />
          <Wants bank={b} health={health} accounts={accounts.length} may={may} filled={filled && signIn} />
        </Item>
        <AccountLines accounts={accounts} />
      </Lines>
    </Card>
  );
}

/** A note for each bank of this connection that has a problem. One connection can read several banks. */
function BanksBehind({ bank }: { bank: Connection }) {
  return bank.banks.map((b) =>
    b.status === "active" ? null : (
      <Note mood="warn" key={b.name}>
        <span className="grow">
          <strong>
            <bdi>{b.name || t`Bank`}</bdi>
          </strong>
          <br />
          {b.status_message ? sentence(b.status_message) : t`coffer will retry automatically. No data is lost.`}
        </span>
      </Note>
    ),
  );
}

/** The action that a bank needs from a person, and the data that is missing meanwhile. */
export function Wants(p: {
  bank: Connection;
  health?: ConnectionHealth;
  accounts: number;
  may: boolean;
  filled: boolean;
}) {
  const { bank: b, health } = p;
  const me = useQuery(session).data?.user?.id;
  const days = missing(covering(health?.covered ?? [], localDay(new Date()), 90));
  const rows = health?.quarantined ?? 0;
  const gap = () =>
    t`${plural(p.accounts, { one: "# account", other: "# accounts" })} missing ${plural(days, { one: "# day of data", other: "# days of data" })}`;
  if (emptied(b) && p.may) return <EmptyBank bank={b} link />;
  if (wantsSignIn(b))
    return (
      <Note mood="warn">
        <span className="grow">
          <strong>{b.status === "active" ? t`Bank access expires soon` : days ? gap() : t`Reconnect your bank`}</strong>
          <br />
          {b.status === "active"
            ? t`Syncing continues until then. Reconnect to renew access.`
            : t`Totals don’t include the missing days. Once you reconnect, coffer catches up.`}
          {b.user_id !== me && (
            <>
              {" "}
              <Trans>The person who connected this bank needs to do this.</Trans>
            </>
          )}
        </span>
        {p.may && (
          <Button kind={p.filled ? "filled" : "plain"} onClick={() => void signInAgain(b.id)}>
            <Trans>Reconnect</Trans>
          </Button>
        )}
      </Note>
    );
  if (b.status === "error")
    return (
      <Note mood="warn">
        <span className="grow">
          <strong>{days ? gap() : t`Last sync failed`}</strong>
          <br />
          {b.status_message ?? t`coffer will retry automatically. No data is lost.`}
        </span>
      </Note>
    );
  if (rows > 0)
    return (
      <Note mood="warn">
        <span className="grow">
          <Plural
            value={rows}
            one="# row from this bank couldn’t be read"
            other="# rows from this bank couldn’t be read"
          />
        </span>
        <Link className="link" to="/banks/$id" params={{ id: b.short_id }}>
          <Trans>View {rows}</Trans>
        </Link>
      </Note>
    );
  if (b.new_accounts_available)
    return (
      <Note>
        <span className="grow">
          <Trans>This bank has accounts you haven’t shared yet</Trans>
        </span>
        {p.may && (
          <Button onClick={() => void signInAgain(b.id)}>
            <Trans>Choose accounts</Trans>
          </Button>
        )}
      </Note>
    );
  return null;
}

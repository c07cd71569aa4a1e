import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Account } from "#/api/accounts";
import type { Connection, ConnectionHealth } from "#/api/connections";
import { session } from "#/api/session";
import { localDay } from "#/lib/dates";
import { signInAgain, useSync, wantsSignIn } from "#/parts/banks";
import { EmptyBank, emptied } from "#/parts/EmptyBank";
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
  /** Its button is the one of the screen. */
  filled: boolean;
};

/** A bank: its state in words, what it needs, and its accounts. */
export function Bank({ bank: b, health, accounts, running, may, filled }: Props) {
  const sync = useSync(running);
  const signIn = wantsSignIn(b);
  const fetches = b.provider !== "csv" && b.status !== "disconnected" && b.status !== "pending_reauth";
  return (
    <Card flush warn={b.status === "pending_reauth" || b.status === "error"}>
      <Lines>
        <Item
          mark={<Tile tone={0} icon={b.provider === "csv" ? "file" : "bank"} large />}
          name={<h2>{<bdi>{b.institution_name ?? "A bank"}</bdi>}</h2>}
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
                Sync now
              </Button>
            )
          }
        >
          {sync.job && <Syncing job={sync.job} onEnd={sync.over} />}
          <Wants bank={b} health={health} accounts={accounts.length} may={may} filled={filled && signIn} />
        </Item>
        <AccountLines accounts={accounts} />
      </Lines>
    </Card>
  );
}

/** What a bank needs of a person, with what is missing meanwhile. */
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
  const from = p.accounts === 1 ? "1 account" : `${p.accounts} accounts`;
  if (emptied(b) && p.may) return <EmptyBank bank={b} link />;
  if (wantsSignIn(b))
    return (
      <Note mood="warn">
        <span className="grow">
          <strong>
            {b.status === "active"
              ? "The bank's permission ends soon"
              : days
                ? `${days} days are missing from ${from}`
                : "The bank wants you to sign in again"}
          </strong>
          <br />
          {b.status === "active"
            ? "Payments keep coming until then. Signing in again renews it."
            : "Figures leave them out. After you sign in, coffer fetches them all; nothing is lost."}
          {b.user_id !== me && " Whoever linked the bank signs in."}
        </span>
        {p.may && (
          <Button kind={p.filled ? "filled" : "plain"} onClick={() => void signInAgain(b.id)}>
            Sign in again
          </Button>
        )}
      </Note>
    );
  if (b.status === "error")
    return (
      <Note mood="warn">
        <span className="grow">
          <strong>{days ? `${days} days are missing from ${from}` : "The last try failed"}</strong>
          <br />
          {b.status_message ?? "coffer tries again by itself. Nothing is lost."}
        </span>
      </Note>
    );
  if (rows > 0)
    return (
      <Note mood="warn">
        <span className="grow">
          {rows} {rows === 1 ? "payment is" : "payments are"} set aside, because coffer cannot read{" "}
          {rows === 1 ? "it" : "them"}
        </span>
        <Link className="link" to="/banks/$id" params={{ id: b.short_id }}>
          Look at {rows}
        </Link>
      </Note>
    );
  if (b.new_accounts_available)
    return (
      <Note>
        <span className="grow">The bank has accounts that are not shared yet</span>
        {p.may && <Button onClick={() => void signInAgain(b.id)}>Choose them</Button>}
      </Note>
    );
  return null;
}

import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Account, balanceProof, type Candidate, type Interval, type Proof } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import { payee, transaction } from "#/api/transactions";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { Amount, useMoney } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";
import { verdict, whyOf, wrong } from "./balanceCheck";

const few = 3; // gaps that are shown at first

/**
 * Whether the transactions of an account match its balances. For each gap, it shows the difference and possible causes.
 */
export function Books({ account: a, bank, may }: { account: Account; bank: Connection | undefined; may: boolean }) {
  const { data, error, refetch } = useQuery(balanceProof(a.id));
  const today = localDay(new Date());
  const result = data && verdict(data, a.balance_method, today);
  const gaps = (data?.intervals ?? []).filter((i) => i.status === "gap").toReversed();
  const lines = (intervals: readonly Interval[]) => (
    <Lines label={t`Mismatches, newest first`}>
      {intervals.map((i) => (
        <Hole key={i.from + i.to} account={a} bank={bank} hole={i} />
      ))}
    </Lines>
  );
  return (
    <Card
      title={t`Balance check`}
      flush
      warn={data?.status === "gap"}
      foot={
        may &&
        data &&
        data.status !== "proved" &&
        a.balance_method === "transactions" && <Help gap={data.status === "gap"} />
      }
    >
      {error && <Fault error={error} what={t`the balance check`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      {data && result && (
        <>
          <Lines>
            <Item
              name={result.title}
              hint={data.foreign_rows > 0 ? `${result.text} ${foreign(data.foreign_rows)}` : result.text}
              end={<Badge mood={moods[result.mood]}>{i18n._(badges[data.status])}</Badge>}
            />
          </Lines>
          {gaps.length > 0 && lines(gaps.slice(0, few))}
          {gaps.length > few && (
            <Fold name={plural(gaps.length - few, { one: "# older", other: "# older" })}>{lines(gaps.slice(few))}</Fold>
          )}
        </>
      )}
    </Card>
  );
}

const moods = { good: "in", warn: "warn", info: "plain" } as const;
const badges: Record<Proof["status"], MessageDescriptor> = {
  proved: msg`verified`,
  gap: msg`mismatch`,
  open: msg`not enough data`,
  none: msg`not checked`,
};

const foreign = (n: number) =>
  plural(n, {
    one: "# transaction in another currency isn’t included.",
    other: "# transactions in other currencies aren’t included.",
  });

/** Hints for a person on how to close a gap. */
function Help({ gap }: { gap: boolean }) {
  return (
    <>
      <span className="grow">
        {gap
          ? t`To fix this, import a statement for those days, restore a deleted transaction, or delete a duplicate. If a balance you entered is wrong, remove it.`
          : t`Import a statement with a balance column, or enter a balance from one.`}
      </span>
      <Link className="link" to="/import" search={{}}>
        <Trans>Import statement</Trans>
      </Link>
    </>
  );
}

/** One gap, with the rows that may have caused it. */
function Hole(p: { account: Account; bank: Connection | undefined; hole: Interval }) {
  const money = useMoney();
  const today = localDay(new Date());
  const { amount, words, maybe } = wrong(p.hole);
  const rows = useQueries({
    queries: p.hole.candidates.flatMap((c) => (c.transaction_id ? [transaction(c.transaction_id)] : [])),
  });
  const found = new Map(rows.flatMap((r) => (r.data ? [[r.data.id, r.data] as const] : [])));
  const line = (c: Candidate) => {
    if (!c.transaction_id)
      return (
        <Item
          key={c.quarantine_id}
          name={t`Unreadable row`}
          hint={whyOf(c)}
          open={
            p.bank &&
            ((name) => (
              <Link to="/banks/$id" params={{ id: p.bank?.short_id ?? "" }}>
                {name}
              </Link>
            ))
          }
        />
      );
    const row = found.get(c.transaction_id);
    return (
      row && (
        <Item
          key={row.id}
          name={<bdi>{payee(row)}</bdi>}
          hint={`${whyOf(c)} · ${dayShort(row.date, today)}`}
          open={(name) => (
            <Link to="/transactions" search={{ account: p.account.short_id, open: row.short_id }}>
              {name}
            </Link>
          )}
          end={<Amount value={cents(row.amount)} currency={row.iso_currency_code} quiet={row.pending} />}
        />
      )
    );
  };
  return (
    <Item
      name={`${dayShort(p.hole.from, today)} – ${dayShort(p.hole.to, today)}`}
      hint={
        <>
          {words(money(amount, p.account.iso_currency_code))} {maybe}
          {p.hole.candidates.length > 0 && ` ${t`Possible causes:`}`}
        </>
      }
    >
      {p.hole.candidates.length > 0 && <Lines label={t`Possible causes`}>{p.hole.candidates.map(line)}</Lines>}
    </Item>
  );
}

import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Account, type Candidate, type Interval, proof } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import { payee, transaction } from "#/api/transactions";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { payments } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { Amount, useMoney } from "#/ui/Amount";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";
import { verdict, whys, wrong } from "./proved";

const few = 3; // gaps that are shown at once

/** Whether the payments of an account explain its balances; where they do not, by how much and what may be the reason. */
export function Books({ account: a, bank, may }: { account: Account; bank: Connection | undefined; may: boolean }) {
  const { data, error, refetch } = useQuery(proof(a.id));
  const today = localDay(new Date());
  const said = data && verdict(data, a.balance_method, today);
  const gaps = (data?.intervals ?? []).filter((i) => i.status === "gap").toReversed();
  const lines = (some: readonly Interval[]) => (
    <Lines label="Where the books do not add up, newest first">
      {some.map((i) => (
        <Hole key={i.from + i.to} account={a} bank={bank} hole={i} />
      ))}
    </Lines>
  );
  return (
    <Card
      title="Do the books add up?"
      flush
      warn={data?.status === "gap"}
      foot={
        may &&
        data &&
        data.status !== "proved" &&
        a.balance_method === "transactions" && <Help gap={data.status === "gap"} />
      }
    >
      {error && <Fault error={error} what="The proof" retry={() => void refetch()} />}
      {!data && !error && <Bones rows={2} />}
      {data && said && (
        <>
          <Lines>
            <Item
              name={said.title}
              hint={
                data.foreign_rows > 0
                  ? `${said.text} ${payments(data.foreign_rows)} in other currencies are not counted.`
                  : said.text
              }
              end={<Badge mood={moods[said.mood]}>{badges[data.status]}</Badge>}
            />
          </Lines>
          {gaps.length > 0 && lines(gaps.slice(0, few))}
          {gaps.length > few && <Fold name={`${gaps.length - few} older`}>{lines(gaps.slice(few))}</Fold>}
        </>
      )}
    </Card>
  );
}

const moods = { good: "in", warn: "warn", info: "plain" } as const;
const badges = { proved: "proved", gap: "a gap", open: "open", none: "no proof" } as const;

/** What a person can do about it. */
function Help({ gap }: { gap: boolean }) {
  return (
    <>
      <span className="grow">
        {gap
          ? "Import a statement of those days, bring a removed payment back, or remove one that is there twice. If a balance that was set by hand is wrong, remove that."
          : "Import a statement that has a column of balances, or set the balance of a day from one."}
      </span>
      <Link className="link" to="/import" search={{}}>
        Import a statement
      </Link>
    </>
  );
}

/** One gap with the rows that may be its reason. */
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
          name="A row that was set aside"
          hint={whys[c.why]}
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
    const t = found.get(c.transaction_id);
    return (
      t && (
        <Item
          key={t.id}
          name={<bdi>{payee(t)}</bdi>}
          hint={`${whys[c.why]} · ${dayShort(t.date, today)}`}
          open={(name) => (
            <Link to="/transactions" search={{ account: p.account.short_id, open: t.short_id }}>
              {name}
            </Link>
          )}
          end={<Amount value={cents(t.amount)} currency={t.iso_currency_code} quiet={t.pending} />}
        />
      )
    );
  };
  return (
    <Item
      name={`Between ${dayShort(p.hole.from, today)} and ${dayShort(p.hole.to, today)}`}
      hint={
        <>
          {words(money(amount, p.account.iso_currency_code))}. {maybe}
          {p.hole.candidates.length > 0 && " It may be one of these:"}
        </>
      }
    >
      {p.hole.candidates.length > 0 && <Lines label="What may be the reason">{p.hole.candidates.map(line)}</Lines>}
    </Item>
  );
}

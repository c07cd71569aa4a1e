import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { type Recurring, recurring } from "#/api/recurring";
import { localDay } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { useMoney } from "#/ui/Amount";
import { Bones, Card, Empty } from "#/ui/Card";
import { Fold, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { RecurringLine } from "./RecurringLine";
import { sorted, yearly } from "./words";

/** What comes back every month or year, what it costs, and what changed. */
export function RecurringPage() {
  const { data, error, refetch } = useQuery(recurring);
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const { write } = useCan();
  const s = sorted(data ?? []);
  const lines = (label: string, rows: readonly Recurring[]) => (
    <Lines label={label}>
      {rows.map((r) => (
        <RecurringLine key={r.id} one={r} today={today} writes={write} />
      ))}
    </Lines>
  );
  const late = s.out.filter((r) => r.status === "late").length;
  return (
    <>
      <Top title="Recurring" sub={late > 0 ? `${late} did not come` : undefined} />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what="The recurring payments" retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {data?.length === 0 && (
          <Card>
            <Empty
              title="No recurring payments yet"
              action={
                <Link className="link" to="/accounts" search={{}}>
                  Connect a bank or import a statement
                </Link>
              }
            >
              After each sync and import coffer looks for payments that come back, such as rent, subscriptions and
              wages. Three payments are enough if they are alike.
            </Empty>
          </Card>
        )}
        {s.out.length > 0 && (
          <Card title="Goes out" aside={<Yearly rows={s.out} />} flush>
            {lines("Goes out", s.out)}
          </Card>
        )}
        {s.in.length > 0 && (
          <Card title="Comes in" aside={<Yearly rows={s.in} />} flush>
            {lines("Comes in", s.in)}
          </Card>
        )}
        {s.ended.length > 0 && (
          <Card flush>
            <Fold name={`${s.ended.length} ended`}>{lines("Ended", s.ended)}</Fold>
          </Card>
        )}
        {s.dismissed.length > 0 && (
          <Card flush>
            <Fold name={`${s.dismissed.length} dismissed`}>{lines("Dismissed", s.dismissed)}</Fold>
          </Card>
        )}
      </Page>
    </>
  );
}

/** What a year of these comes to, a currency at a time. */
function Yearly({ rows }: { rows: readonly Recurring[] }) {
  const money = useMoney();
  return <>{[...yearly(rows)].map(([currency, n]) => money(n, currency)).join(" and ")} a year</>;
}

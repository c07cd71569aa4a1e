import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { accounts } from "#/api/accounts";
import type { Cashflow } from "#/api/cashflow";
import { myLogins } from "#/api/me";
import type { Overview } from "#/api/overview";
import { dayShort } from "#/lib/dates";
import { countOf, inOrder } from "#/parts/alerts";
import { noteText } from "#/parts/Notes";
import { Card } from "#/ui/Card";
import { Freshness, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";
import { upToDate, withoutCategory } from "./figures";

/** How many banks sync, and the day of the latest transaction. */
function freshness(banks: number, newest: string | undefined, today: string): string {
  const parts = [
    banks === 0 ? t`No bank is up to date` : plural(banks, { one: "# bank up to date", other: "# banks up to date" }),
  ];
  if (newest) parts.push(t`latest transaction ${{ day: dayShort(newest, today) }}`);
  return parts.join(" · ");
}

const RecoveryItem = lazy(() => import("#/parts/Recovery").then((m) => ({ default: m.RecoveryItem })));

/** Everything that waits for a person, each with a link. Below, how up to date the banks are. */
export function Needs({ overview: o, notes }: { overview: Overview; notes: Cashflow["notes"] }) {
  const broken = o.connections.filter((c) => c.status === "error" || c.status === "pending_reauth");
  const current = o.connections.filter((c) => upToDate(c, o.today));
  const links = (o.links?.proposed ?? 0) + (o.links?.unsure ?? 0);
  const twice = notes.find((n) => n.code === "links_proposed");
  const newest = o.connections
    .map((c) => c.latest_date ?? "")
    .sort()
    .at(-1);
  const plans = o.agents?.plans_waiting ?? 0;
  const alerts: Record<string, number> = o.findings;
  const kinds = inOrder(Object.keys(alerts).filter((kind) => alerts[kind]));
  const found = kinds.reduce((n, kind) => n + (alerts[kind] ?? 0), 0);
  const rules = o.rules.proposed;
  const unfiled = o.uncategorized ?? 0;
  const codes = useQuery(myLogins).data?.recovery_codes;
  const guessed = useQuery(accounts).data?.filter((a) => a.type_guessed && !a.hidden) ?? [];
  const waits = [
    unfiled > 0,
    rules > 0,
    plans > 0,
    o.review.count > 0,
    links > 0,
    o.unread_reports > 0,
    found > 0,
    guessed.length > 0,
  ];
  const count = broken.length + waits.filter(Boolean).length + (codes === 0 ? 1 : 0);
  const chev = <Icon name="chev" small />;
  return (
    <Card
      title={t`Needs attention`}
      aside={count || undefined}
      flush
      foot={
        o.connections.length > 0 && (
          <Freshness old={current.length === 0}>{freshness(current.length, newest, o.today)}</Freshness>
        )
      }
    >
      <Lines>
        {broken.map((c) => {
          const bank = c.institution_name ?? t`A bank`;
          return (
            <Item
              key={c.id}
              mark={<Tile tone={2} icon="warn" />}
              name={c.status === "error" ? t`${bank} can’t sync` : t`${bank} needs you to reconnect`}
              hint={
                c.latest_date
                  ? t`No new transactions since ${{ day: dayShort(c.latest_date, o.today) }}`
                  : t`Not synced yet`
              }
              open={(name) => (
                <Link to="/banks/$id" params={{ id: c.short_id }}>
                  {name}
                </Link>
              )}
              end={chev}
            />
          );
        })}
        {o.review.count > 0 && (
          <Item
            mark={<Tile tone={1} icon="review" />}
            name={plural(o.review.count, { one: "# transaction to review", other: "# transactions to review" })}
            hint={t`Check and approve their categories`}
            open={(name) => (
              <Link to="/review" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {unfiled > 0 && (
          <Item
            mark={<Tile tone={6} icon="tag" />}
            name={withoutCategory(unfiled)}
            hint={t`Charts and totals show them as “Uncategorized”`}
            open={(name) => (
              <Link to="/transactions" search={{ uncategorized: true, pending: false }}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {found > 0 && (
          <Item
            mark={<Tile tone={8} icon="eye" />}
            name={plural(found, { one: "# alert", other: "# alerts" })}
            hint={kinds.map((kind) => countOf(kind, alerts[kind] ?? 0)).join(", ")}
            open={(name) => (
              <Link to="/review/alerts" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {plans > 0 && (
          <Item
            mark={<Tile tone={4} icon="bolt" />}
            name={plural(plans, { one: "# set of proposed changes", other: "# sets of proposed changes" })}
            hint={t`From your workflows, ready to apply or discard`}
            open={(name) => (
              <Link to="/review/suggestions" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {guessed[0] && (
          <Item
            mark={<Tile tone={3} icon="bank" />}
            name={plural(guessed.length, { one: "# account without a type", other: "# accounts without a type" })}
            hint={t`A debt may count as money that you have`}
            open={(name) => (
              <Link to="/accounts/$id" params={{ id: guessed[0]?.short_id ?? "" }}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {rules > 0 && (
          <Item
            mark={<Tile tone={4} icon="rules" />}
            name={plural(rules, { one: "# suggested rule", other: "# suggested rules" })}
            hint={t`From your agents, ready to accept or delete`}
            open={(name) => <Link to="/review/suggestions">{name}</Link>}
            end={chev}
          />
        )}
        {links > 0 && (
          <Item
            mark={<Tile tone={3} icon="link" />}
            name={t`Accounts that may be duplicates or transfers`}
            hint={
              twice
                ? noteText(twice)
                : plural(links, { one: "# suggested account link", other: "# suggested account links" })
            }
            open={(name) => (
              <Link to="/review/links" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {o.unread_reports > 0 && (
          <Item
            mark={<Tile tone={10} icon="report" />}
            name={plural(o.unread_reports, { one: "# unread report", other: "# unread reports" })}
            hint={t`From members and agents`}
            open={(name) => (
              <Link to="/reports" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        <Suspense>{codes === 0 && <RecoveryItem left={0} />}</Suspense>
        {count === 0 && (
          <Item
            mark={<Tile tone={1} icon="check" />}
            name={t`You’re all caught up`}
            hint={
              current.length > 0 ? t`Everything is reviewed and all banks are up to date` : t`Everything is reviewed`
            }
          />
        )}
      </Lines>
    </Card>
  );
}

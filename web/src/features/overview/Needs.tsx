import { Link } from "@tanstack/react-router";
import type { Cashflow } from "#/api/cashflow";
import type { Overview } from "#/api/overview";
import { dayShort } from "#/lib/dates";
import { sentence } from "#/parts/edit";
import { Card } from "#/ui/Card";
import { Fresh, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";

/** What stands among the findings, in words. */
const seen: readonly (readonly [keyof Overview["findings"], string])[] = [
  ["duplicate", "charged twice"],
  ["unusual", "unusual"],
  ["missed", "did not come"],
  ["price_change", "with a new amount"],
  ["gap", "where books do not add up"],
  ["refund", "with money back"],
];

const stands = {
  error: "cannot be read",
  pending_reauth: "wants you to sign in again",
  disconnected: "is no longer linked",
} as const;

/** What waits for a person, each one step away; below it how fresh the rest is. */
export function Needs({ overview: o, notes }: { overview: Overview; notes: Cashflow["notes"] }) {
  const broken = o.connections.filter((c) => c.status === "error" || c.status === "pending_reauth");
  const fine = o.connections.filter((c) => c.status === "active");
  const links = notes.find((n) => n.code === "links_proposed");
  const newest = fine
    .map((c) => c.latest_date ?? "")
    .sort()
    .at(-1);
  const plans = o.agents?.plans_waiting ?? 0;
  const kinds = seen.filter(([kind]) => o.findings[kind] > 0);
  const found = kinds.reduce((n, [kind]) => n + o.findings[kind], 0);
  const rules = o.rules.proposed;
  const waits = [rules > 0, plans > 0, o.review.count > 0, links, o.unread_reports > 0, found > 0];
  const count = broken.length + waits.filter(Boolean).length;
  const chev = <Icon name="chev" small />;
  return (
    <Card
      title="Needs you"
      aside={count || undefined}
      flush
      foot={
        <Fresh old={fine.length === 0}>
          {fine.length === 0
            ? "No bank is fresh"
            : `${fine.length} ${fine.length === 1 ? "bank is" : "banks are"} fresh${newest ? `, newest payment ${dayShort(newest, o.today)}` : ""}`}
        </Fresh>
      }
    >
      <Lines>
        {broken.map((c) => (
          <Item
            key={c.id}
            mark={<Tile tone={2} icon="warn" />}
            name={`${c.institution_name ?? "A bank"} ${stands[c.status as keyof typeof stands]}`}
            hint={c.latest_date ? `Nothing new since ${dayShort(c.latest_date, o.today)}` : "Nothing was read yet"}
            open={(name) => (
              <Link to="/banks/$id" params={{ id: c.short_id }}>
                {name}
              </Link>
            )}
            end={chev}
          />
        ))}
        {o.review.count > 0 && (
          <Item
            mark={<Tile tone={1} icon="review" />}
            name={`${o.review.count.toLocaleString("en")} to review`}
            hint="New payments wait for a look"
            open={(name) => (
              <Link to="/review" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {found > 0 && (
          <Item
            mark={<Tile tone={8} icon="eye" />}
            name={found === 1 ? "1 finding to look at" : `${found.toLocaleString("en")} findings to look at`}
            hint={kinds.map(([kind, words]) => `${o.findings[kind]} ${words}`).join(", ")}
            open={(name) => (
              <Link to="/findings" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {plans > 0 && (
          <Item
            mark={<Tile tone={4} icon="bolt" />}
            name={plans === 1 ? "1 plan waits for you" : `${plans.toLocaleString("en")} plans wait for you`}
            hint="What workflows would change, for you to apply or drop"
            open={(name) => (
              <Link to="/workflows" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {rules > 0 && (
          <Item
            mark={<Tile tone={4} icon="rules" />}
            name={rules === 1 ? "1 proposed rule" : `${rules.toLocaleString("en")} proposed rules`}
            hint="Agents wrote them, for you to accept or delete"
            open={(name) => <Link to="/rules">{name}</Link>}
            end={chev}
          />
        )}
        {links && (
          <Item
            mark={<Tile tone={3} icon="link" />}
            name="Accounts that may be linked"
            hint={sentence(links.message)}
            open={(name) => (
              <Link to="/links" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {o.unread_reports > 0 && (
          <Item
            mark={<Tile tone={10} icon="report" />}
            name={`${o.unread_reports} ${o.unread_reports === 1 ? "report" : "reports"} to read`}
            hint="Written for you by people and agents"
            open={(name) => (
              <Link to="/reports" search={{}}>
                {name}
              </Link>
            )}
            end={chev}
          />
        )}
        {count === 0 && (
          <Item
            mark={<Tile tone={1} icon="check" />}
            name="Nothing waits for you"
            hint="Everything is reviewed and every bank answers"
          />
        )}
      </Lines>
    </Card>
  );
}

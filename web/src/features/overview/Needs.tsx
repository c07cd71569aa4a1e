import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Overview } from "#/api/overview";
import { dayShort } from "#/lib/dates";
import { Card } from "#/ui/Card";
import { Icon } from "#/ui/Icon";
import type { IconName } from "#/ui/icons";
import css from "./OverviewPage.module.css";

const stands = {
  error: "cannot be read",
  pending_reauth: "wants you to sign in again",
  disconnected: "is no longer linked",
} as const;

/** What waits for a person, each one step away; below it how fresh the rest is. */
export function Needs({ overview: o }: { overview: Overview }) {
  const broken = o.connections.filter((c) => c.status !== "active");
  const fine = o.connections.filter((c) => c.status === "active");
  const newest = fine
    .map((c) => c.latest_date ?? "")
    .sort()
    .at(-1);
  const count = broken.length + (o.review.count > 0 ? 1 : 0);
  return (
    <Card
      title="Needs you"
      aside={count || undefined}
      flush
      foot={
        <>
          <span className={fine.length ? css.fresh : css.old} aria-hidden="true" />
          {fine.length === 0
            ? "No bank is linked"
            : `${fine.length} ${fine.length === 1 ? "bank is" : "banks are"} fresh${newest ? `, newest payment ${dayShort(newest, o.today)}` : ""}`}
        </>
      }
    >
      <ul className={css.needs}>
        {broken.map((c) => (
          <Need
            key={c.id}
            icon="warn"
            warn
            title={`${c.institution_name ?? "A bank"} ${stands[c.status as keyof typeof stands]}`}
          >
            {c.latest_date ? `Nothing new since ${dayShort(c.latest_date, o.today)}` : "Nothing was read yet"}
          </Need>
        ))}
        {o.review.count > 0 && (
          <Need
            icon="review"
            title={`${o.review.count.toLocaleString("en")} to review`}
            link={(inside) => (
              <Link to="/review" className={css.need}>
                {inside}
              </Link>
            )}
          >
            New payments wait for a look
          </Need>
        )}
        {count === 0 && (
          <Need icon="check" title="Nothing waits for you">
            Everything is reviewed and every bank answers
          </Need>
        )}
      </ul>
    </Card>
  );
}

type NeedProps = {
  icon: IconName;
  warn?: boolean;
  title: string;
  children: ReactNode;
  link?: (inside: ReactNode) => ReactNode;
};

function Need({ icon, warn, title, children, link }: NeedProps) {
  const inside = (
    <>
      <span className={warn ? css.warn : css.calm}>
        <Icon name={icon} small />
      </span>
      <span className="grow">
        <span className={css.title}>{title}</span>
        <span className="small dim">{children}</span>
      </span>
      {link && <Icon name="chev" small />}
    </>
  );
  return <li>{link ? link(inside) : <span className={css.need}>{inside}</span>}</li>;
}

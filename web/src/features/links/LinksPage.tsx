import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { recorded } from "#/api/changes";
import { type AccountLink, accountLinks, decideLinks, maxLinks } from "#/api/links";
import { number } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";
import { LinkCard } from "./LinkCard";
import { touches } from "./Pairs";
import { likely, sorted } from "./words";

/** Linked accounts, so that no money is counted twice. */
export function LinksPage() {
  const { data, error, refetch } = useQuery(accountLinks);
  const { waiting, unsure, decided } = sorted(data ?? []);
  const can = useCan();
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const picks = (l: AccountLink) => chosen[l.id] ?? likely(l);
  const pick = (l: AccountLink, on: boolean) => setChosen((now) => ({ ...now, [l.id]: on }));
  return (
    <>
      <PageHeader
        title={t`Review`}
        sub={
          data && data.length > 0
            ? plural(waiting.length + unsure.length, { one: "# to review", other: "# to review" })
            : undefined
        }
      />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`linked accounts`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Skeleton rows={5} />
          </Card>
        )}
        {data?.length === 0 && (
          <Card>
            <Empty
              title={t`No linked accounts`}
              action={
                <Link className="link" to="/accounts" search={{}}>
                  <Trans>All accounts</Trans>
                </Link>
              }
            >
              <Trans>
                When two accounts show the same money, such as a credit card payment, coffer asks you about it here.
              </Trans>
            </Empty>
          </Card>
        )}
        {waiting.length > 0 && (
          <Note mood="warn">
            <p>
              <strong>
                <Plural value={waiting.length} one="# to review." other="# to review." />
              </strong>{" "}
              <Trans>Until you decide, totals may count the same money twice.</Trans>
            </p>
            {can.write && waiting.length > 1 && <Together links={waiting.filter(picks)} />}
          </Note>
        )}
        <Few links={waiting} ask {...(can.write && waiting.length > 1 ? { picks, pick } : {})} />
        <Few links={unsure} />
        {decided.length > 0 && (
          <h2>
            <Trans>Reviewed</Trans>
          </h2>
        )}
        <Few links={decided} />
      </Page>
    </>
  );
}

/** Confirms or rejects the selected suggestions as one change. One undo reverts them all. */
function Together({ links }: { links: readonly AccountLink[] }) {
  const batch = links.slice(0, maxLinks);
  const decide = useAction({
    act: (v: "confirmed" | "rejected") =>
      recorded(
        decideLinks(
          batch.map((l) => l.id),
          v,
        ),
      ),
    touches,
    text: (_, v) =>
      v === "confirmed"
        ? plural(batch.length, { one: "# link confirmed. Totals updated", other: "# links confirmed. Totals updated" })
        : plural(batch.length, { one: "# link rejected", other: "# links rejected" }),
    change: (r) => r.change,
  });
  const none = batch.length === 0 || decide.isPending;
  return (
    <span className="row wrap">
      <Button icon="check" disabled={none} onClick={() => decide.mutate("confirmed")}>
        <Trans>Confirm {{ count: number(batch.length) }} selected</Trans>
      </Button>
      <Button icon="x" disabled={none} onClick={() => decide.mutate("rejected")}>
        <Trans>Reject {{ count: number(batch.length) }} selected</Trans>
      </Button>
    </span>
  );
}

const few = 5;

type Listed = {
  links: readonly AccountLink[];
  ask?: boolean;
  picks?: (l: AccountLink) => boolean;
  pick?: (l: AccountLink, on: boolean) => void;
};

/** The first links of a list, and the others on request. Each has pairs to look at, so the list starts short. */
function Few({ links, ask, picks, pick }: Listed) {
  const [all, setAll] = useState(false);
  const left = all ? 0 : Math.max(links.length - few, 0);
  return (
    <>
      {links.slice(0, links.length - left).map((l, i) => (
        <LinkCard
          key={l.id}
          link={l}
          first={ask && i === 0}
          picked={picks?.(l)}
          onPick={pick && ((on) => pick(l, on))}
        />
      ))}
      {left > 0 && (
        <Button onClick={() => setAll(true)}>
          <Plural value={left} one="Show # more" other="Show # more" />
        </Button>
      )}
    </>
  );
}

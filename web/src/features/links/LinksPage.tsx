import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type AccountLink, accountLinks } from "#/api/links";
import { Fault } from "#/parts/Fault";
import { LookOnly } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";
import { LinkCard } from "./LinkCard";
import { sorted } from "./words";

/** Which accounts belong together, so that no money is counted twice. */
export function LinksPage() {
  const { data, error, refetch } = useQuery(accountLinks);
  const { waiting, decided } = sorted(data ?? []);
  return (
    <>
      <Top
        title={t`Review`}
        sub={data && data.length > 0 ? plural(waiting.length, { one: "# to review", other: "# to review" }) : undefined}
      />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`linked accounts`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Bones rows={5} />
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
          </Note>
        )}
        <Few links={waiting} ask />
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

const few = 5;

/** The first links of a list, and the others when asked for: each has pairs to look at. */
function Few({ links, ask }: { links: readonly AccountLink[]; ask?: boolean }) {
  const [all, setAll] = useState(false);
  const left = all ? 0 : Math.max(links.length - few, 0);
  return (
    <>
      {links.slice(0, links.length - left).map((l, i) => (
        <LinkCard key={l.id} link={l} first={ask && i === 0} />
      ))}
      {left > 0 && (
        <Button onClick={() => setAll(true)}>
          <Plural value={left} one="Show # more" other="Show # more" />
        </Button>
      )}
    </>
  );
}

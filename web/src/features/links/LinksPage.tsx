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
      <Top title="Account links" sub={data && data.length > 0 ? `${waiting.length} to decide` : undefined} />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what="The account links" retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Bones rows={5} />
          </Card>
        )}
        {data?.length === 0 && (
          <Card>
            <Empty
              title="No account links yet"
              action={
                <Link className="link" to="/accounts" search={{}}>
                  All accounts
                </Link>
              }
            >
              After each sync coffer looks for payments that two of your accounts show, such as the payment of a card
              bill, and asks about them here.
            </Empty>
          </Card>
        )}
        {waiting.length > 0 && (
          <Note mood="warn">
            <p>
              <strong>
                Totals wait for {waiting.length === 1 ? "this answer" : `these ${waiting.length} answers`}.
              </strong>{" "}
              Until then, what is spent and earned may count the same money twice.
            </p>
          </Note>
        )}
        <Few links={waiting} ask />
        {decided.length > 0 && <h2>Decided</h2>}
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
      {left > 0 && <Button onClick={() => setAll(true)}>Show {left} more</Button>}
    </>
  );
}

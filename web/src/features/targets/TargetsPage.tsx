import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { overview } from "#/api/overview";
import { type Target, targets } from "#/api/targets";
import { localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { LookOnly, useCan } from "#/parts/rights";
import { Stepper } from "#/parts/Stepper";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { Proposals } from "./Proposals";
import { TargetForm } from "./TargetForm";
import { TargetLine } from "./TargetLine";

/** What the household means to spend in a month, and how the month goes. */
export function TargetsPage() {
  const go = useNavigate({ from: "/targets" });
  const asked = useSearch({ from: "/targets" }).month;
  const can = useCan().write;
  const now = monthOf(useQuery(overview).data?.today ?? localDay(new Date()));
  const month = asked ?? now;
  const { data, error, refetch } = useQuery(targets(month));
  const [form, setForm] = useState<Target | "new">();
  const choose = (m: string) => void go({ search: { month: m === now ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => choose(shift(month, -1)),
    "]": () => month !== now && choose(shift(month, 1)),
  });
  const all = data?.targets ?? [];
  const over = all.filter((t) => t.state === "over").length;
  const live = all.filter((t) => t.available !== null).length;
  const add = can && (
    <Button kind={all.length ? "plain" : "filled"} icon="plus" onClick={() => setForm("new")}>
      Set a target
    </Button>
  );
  return (
    <>
      <Top title="Targets">
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what="month"
          last={month === now}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </Top>
      <Page>
        <LookOnly />
        {error && <Fault error={error} what="The targets" retry={() => void refetch()} />}
        {all.length > 0 && <Notes notes={data?.notes} />}
        {!data && !error && (
          <Card>
            <Bones rows={4} />
          </Card>
        )}
        {data && all.length === 0 && (
          <Card>
            <Empty title="No targets yet" action={add}>
              Say what you mean to spend on a category each month, and see here how the month goes.
            </Empty>
          </Card>
        )}
        {all.length > 0 && (
          <Card
            title={
              over ? `${over} of ${live} over` : live === 0 ? "No target in this month" : "All within their targets"
            }
            aside={add}
            flush
          >
            <ul aria-label="Targets">
              {all.map((t) => (
                <TargetLine key={t.id} target={t} month={month} onEdit={can ? () => setForm(t) : undefined} />
              ))}
            </ul>
          </Card>
        )}
        {data && can && <Proposals now={now} have={all} />}
      </Page>
      {form && <TargetForm target={form === "new" ? undefined : form} month={now} onClose={() => setForm(undefined)} />}
    </>
  );
}

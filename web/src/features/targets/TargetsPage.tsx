import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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

const step = "month";

/** The household’s budgets of a month, and how the month is going. */
export function TargetsPage() {
  const go = useNavigate({ from: "/budget" });
  const asked = useSearch({ from: "/budget" }).month;
  const can = useCan().write;
  const now = monthOf(useQuery(overview).data?.today ?? localDay(new Date()));
  const month = asked ?? now;
  const { data, error, refetch, isPlaceholderData } = useQuery(targets(month));
  const [form, setForm] = useState<Target | "new">();
  const choose = (m: string) => void go({ search: { month: m === now ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => choose(shift(month, -1)),
    "]": () => month !== now && choose(shift(month, 1)),
  });
  const all = data?.targets ?? [];
  const over = all.filter((x) => x.state === "over").length;
  const live = all.filter((x) => x.available !== null).length;
  const add = can && (
    <Button kind={all.length ? "plain" : "filled"} icon="plus" onClick={() => setForm("new")}>
      <Trans>Add budget</Trans>
    </Button>
  );
  return (
    <>
      <Top title={t`Budget`}>
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what={step}
          last={month === now}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </Top>
      <Page stale={isPlaceholderData}>
        <LookOnly />
        {error && <Fault error={error} what={t`your budgets`} retry={() => void refetch()} />}
        {all.length > 0 && <Notes notes={data?.notes} />}
        {!data && !error && (
          <Card>
            <Bones rows={4} />
          </Card>
        )}
        {data && all.length === 0 && (
          <Card>
            <Empty title={t`No budgets yet`} action={add}>
              <Trans>Choose what you want to spend in a category each month and track how it’s going.</Trans>
            </Empty>
          </Card>
        )}
        {all.length > 0 && (
          <Card
            title={over ? t`${over} of ${live} over budget` : live === 0 ? t`No budgets this month` : t`All on budget`}
            aside={add}
            flush
          >
            <ul aria-label={t`Budgets`}>
              {all.map((x) => (
                <TargetLine key={x.id} target={x} month={month} onEdit={can ? () => setForm(x) : undefined} />
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

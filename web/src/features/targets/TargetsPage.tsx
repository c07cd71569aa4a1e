import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { overview } from "#/api/overview";
import { type Target, targets } from "#/api/targets";
import { localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Stepper } from "#/parts/Stepper";
import { Sum, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { Proposals } from "./Proposals";
import { TargetForm } from "./TargetForm";
import { FixedLine, TargetLine } from "./TargetLine";
import css from "./TargetsPage.module.css";
import { Totals } from "./Totals";
import { paid } from "./words";

const step = "month";

/** The household's budgets of a month, and how they are going. */
export function TargetsPage() {
  const go = useNavigate({ from: "/budget" });
  const requested = useSearch({ from: "/budget" }).month;
  const can = useCan().write;
  const money = useMoney();
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const now = monthOf(today);
  const month = requested ?? now;
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
  const fixed = all.filter((x) => x.fixed && x.available !== null);
  const others = all.filter((x) => !fixed.includes(x));
  const made = paid(fixed);
  const edit = (x: Target) => (can ? () => setForm(x) : undefined);
  const add = can && (
    <Button kind={all.length ? "plain" : "filled"} icon="plus" onClick={() => setForm("new")}>
      <Trans>Add budget</Trans>
    </Button>
  );
  return (
    <>
      <PageHeader title={t`Budget`}>
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what={step}
          last={month === now}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </PageHeader>
      <Page stale={isPlaceholderData}>
        <LookOnly />
        {error && <Fault error={error} what={t`your budgets`} retry={() => void refetch()} />}
        {all.length > 0 && <Notes notes={data?.notes} />}
        {data?.totals.map((x) => (
          <Totals key={x.iso_currency_code} total={x} />
        ))}
        {!data && !error && (
          <Card>
            <Skeleton rows={4} />
          </Card>
        )}
        {data && all.length === 0 && (
          <Card>
            <Empty title={t`No budgets yet`} action={add}>
              <Trans>Choose what you want to spend in a category each month and track how it’s going.</Trans>
            </Empty>
          </Card>
        )}
        <div className={css.columns}>
          {all.length > 0 && (
            <Card
              title={t`Budgets`}
              aside={
                <span className={css.aside}>
                  {live === 0
                    ? t`No budgets this month`
                    : over
                      ? t`${over} of ${live} over budget`
                      : t`All within budget`}
                  {add}
                </span>
              }
              foot={
                month === now && others.some((x) => x.available !== null) ? (
                  <p className="small dim">
                    <Trans>The line marks what you would have spent by today at an even pace.</Trans>
                  </p>
                ) : undefined
              }
              flush
            >
              <ul aria-label={t`Budgets`}>
                {others.map((x) => (
                  <TargetLine key={x.id} target={x} month={month} onEdit={edit(x)} />
                ))}
                {data?.totals.map((x) => (
                  <li key={x.iso_currency_code} className={`${css.item} ${css.head} ${css.total}`}>
                    <span className={css.name}>
                      {fixed.length > 0 ? t`Total with fixed costs` : t({ message: "Total", context: "budgets" })}
                    </span>
                    <span className={css.figures}>
                      <Sum value={cents(x.spent)} currency={x.iso_currency_code} />{" "}
                      <span className="dim">
                        <Trans>of {{ amount: money(cents(x.amount), x.iso_currency_code) }}</Trans>
                      </span>
                    </span>
                  </li>
                ))}
              </ul>
            </Card>
          )}
          {data && (fixed.length > 0 || can) && (
            <div className={css.column}>
              {fixed.length > 0 && (
                <Card
                  title={t`Fixed costs`}
                  aside={t`${{ paid: made.paid }} of ${{ all: made.all }} paid`}
                  foot={
                    <p className="small dim">
                      <Trans>Budgets of recurring payments. They count by due date, not by pace.</Trans>
                    </p>
                  }
                  flush
                >
                  <ul aria-label={t`Fixed costs`}>
                    {fixed.map((x) => (
                      <FixedLine key={x.id} target={x} month={month} today={today} onEdit={edit(x)} />
                    ))}
                  </ul>
                </Card>
              )}
              {can && <Proposals now={now} have={all} />}
            </div>
          )}
        </div>
      </Page>
      {form && (
        <TargetForm
          target={form === "new" ? undefined : form}
          have={all}
          month={now}
          onClose={() => setForm(undefined)}
        />
      )}
    </>
  );
}

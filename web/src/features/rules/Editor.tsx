import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Candidate, type Rule, rehearsal, rules } from "#/api/rules";
import { tags } from "#/api/tags";
import { recordHint, recordOf } from "#/parts/record";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Choose } from "#/ui/Form";
import { Actions } from "./Actions";
import { BeforeAfter } from "./BeforeAfter";
import { summary } from "./buckets";
import { Conditions } from "./Conditions";
import { draftOf, useKept } from "./draft";
import css from "./Editor.module.css";
import { type Form, lacks, nameOf, patchOf, specOf } from "./form";
import { Leaving } from "./Leaving";
import { Offers } from "./Offers";
import { Overlaps } from "./Overlaps";
import { useNames } from "./useNames";
import { useSave } from "./useSave";
import { sentenceOf, stageOf, stages, triggers } from "./words";

const pause = 200;

/** The label of a priority that is not one of the stages. */
const orderOf = (priority: number) => t`${{ order: i18n._(stageOf(priority).option) }} (priority ${priority})`;

/** A text that changes only after typing has paused. */
function useSettled(text: string): string {
  const [settled, set] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => set(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Props = {
  start: Form;
  saved?: Rule;
  offers?: { candidates: readonly Candidate[]; transactions: number };
  writes: boolean;
};

/** The editor on one side, and the effect of the rule on the other, updated while the person types. */
export function Editor({ start, saved, offers, writes }: Props) {
  const [form, setForm] = useState(() => draftOf(start));
  const { names, accounts, categories } = useNames();
  const known = useQuery(tags).data;
  const set = (f: Partial<Form>) => setForm((now) => ({ ...now, ...f }));
  const missing = lacks(form);
  const spec = JSON.stringify(missing ? null : { ...specOf(form, names), name: "rehearsed" });
  const settledSpec = useSettled(spec);
  const tried = useQuery({ ...rehearsal(JSON.parse(settledSpec), saved?.id), placeholderData: keepPreviousData });
  const now = missing ? undefined : tried.data;
  const waiting = spec !== settledSpec || tried.isPlaceholderData || tried.isFetching;
  const save = useSave({ form, saved, names });
  const dirty = !saved || Object.keys(patchOf(form, saved)).length > 0;
  const edited = JSON.stringify(form) !== JSON.stringify(start) && !save.isPending && !save.isSuccess;
  useKept(start, edited ? form : null);
  const will = now?.changed ?? 0;
  const ready = !missing && !tried.error && !save.isPending;
  const stood = useQuery({ ...rules, enabled: saved !== undefined }).data?.find((r) => r.id === saved?.id)?.record;
  const custom = !stages.some((s) => s.from === form.priority);
  return (
    <div className={css.two}>
      <div className={css.left}>
        <Card
          title={t`Rule`}
          aside={
            <>
              {stood && stood.decisions > 0 && <span title={recordHint()}>{recordOf(stood)}</span>}{" "}
              <Badge>{saved ? (saved.enabled ? t`on` : t`off`) : t`draft`}</Badge>
            </>
          }
        >
          <fieldset className={css.form} disabled={!writes} aria-label={t`Rule`}>
            <p className={css.sentence}>{sentenceOf(form.when, form.actions, names)}</p>
            <Field
              label={t`Name`}
              value={form.name}
              placeholder={nameOf({ ...form, name: "" }, names)}
              maxLength={200}
              onChange={(e) => set({ name: e.target.value })}
            />
            {offers && offers.candidates.length > 1 && (
              <Offers
                candidates={offers.candidates}
                ofPayee={offers.transactions}
                when={form.when}
                names={names}
                onChoose={(when) => set({ when })}
              />
            )}
            <Conditions
              names={names}
              accounts={accounts}
              categories={categories}
              group={form.when}
              onChange={(when) => set({ when })}
            />
            <Actions actions={form.actions} categories={categories} onChange={(actions) => set({ actions })} />
            <div className={css.part}>
              <strong>
                <Trans context="when it starts">Run</Trans>
              </strong>
              <div className="row">
                <Choose
                  label={t`Runs on`}
                  options={triggers()}
                  value={form.trigger}
                  onChange={(e) => set({ trigger: e.target.value as Form["trigger"] })}
                />
                <Choose
                  label={t`Run order`}
                  options={[
                    ...(custom ? [[String(form.priority), orderOf(form.priority)] as const] : []),
                    ...stages.map((s) => [String(s.from), i18n._(s.option)] as const),
                  ]}
                  value={String(form.priority)}
                  onChange={(e) => set({ priority: Number(e.target.value) })}
                />
              </div>
              <span className="small dim">
                <Trans>Rules never change locked values. Money out is positive, money in is negative.</Trans>
              </span>
            </div>
            <datalist id="rule-tags">
              {known?.map(({ slug }) => (
                <option key={slug} value={slug} />
              ))}
            </datalist>
          </fieldset>
        </Card>
        {writes && (
          <div className={css.dock}>
            {now && <span className={`${css.sum} small`}>{summary(now)}</span>}
            <div className="row wrap">
              <Button
                kind="filled"
                disabled={!ready || waiting || (!dirty && will === 0)}
                onClick={() => save.mutate(will > 0)}
              >
                {will === 0
                  ? t`Save`
                  : dirty
                    ? plural(will, { one: "Save and update #", other: "Save and update #" })
                    : plural(will, { one: "Update # transaction", other: "Update # transactions" })}
              </Button>
              {will > 0 && dirty && (
                <Button disabled={!ready} onClick={() => save.mutate(false)}>
                  <Trans>Save for new transactions only</Trans>
                </Button>
              )}
              <Link className="link end" to="/rules">
                <Trans>Cancel</Trans>
              </Link>
            </div>
          </div>
        )}
        {saved && !saved.is_system && <Overlaps id={saved.id} />}
      </div>
      <Leaving edited={edited} />
      <BeforeAfter rehearsal={now} lacks={missing} error={tried.error} />
    </div>
  );
}

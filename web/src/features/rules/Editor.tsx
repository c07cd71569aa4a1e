import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useState } from "react";
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

/** A value that waits until typing has paused. */
function useSettled<T>(value: T, key: string): T {
  const [settled, set] = useState({ value, key });
  const latest = useDeferredValue(value);
  useEffect(() => {
    if (key === settled.key) return;
    const t = setTimeout(() => set({ value: latest, key }), pause);
    return () => clearTimeout(t);
  }, [key, latest, settled.key]);
  return settled.value;
}

type Props = {
  start: Form;
  saved?: Rule;
  offers?: { candidates: readonly Candidate[]; transactions: number };
  writes: boolean;
};

/** The rule on one side; on the other, what it would do, as it is typed. */
export function Editor({ start, saved, offers, writes }: Props) {
  const [form, setForm] = useState(() => draftOf(start));
  const { names, accounts, categories } = useNames();
  const known = useQuery(tags).data;
  const set = (f: Partial<Form>) => setForm((now) => ({ ...now, ...f }));
  const missing = lacks(form);
  const spec = missing ? null : { ...specOf(form, names), name: "rehearsed" };
  const asked = useSettled(spec, JSON.stringify(spec));
  const tried = useQuery({ ...rehearsal(asked, saved?.id), placeholderData: keepPreviousData });
  const now = missing ? undefined : tried.data;
  const waiting = JSON.stringify(spec) !== JSON.stringify(asked) || tried.isPlaceholderData || tried.isFetching;
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
          title="The rule"
          aside={
            <>
              {stood && stood.decisions > 0 && <span title={recordHint}>{recordOf(stood)}</span>}{" "}
              <Badge>{saved ? (saved.enabled ? "on" : "off") : "draft"}</Badge>
            </>
          }
        >
          <fieldset className={css.form} disabled={!writes} aria-label="The rule">
            <p className={css.sentence}>{sentenceOf(form.when, form.actions, names)}</p>
            <Field
              label="Name"
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
              <strong>Runs</strong>
              <div className="row">
                <Choose
                  label="When it runs"
                  options={triggers}
                  value={form.trigger}
                  onChange={(e) => set({ trigger: e.target.value as Form["trigger"] })}
                />
                <Choose
                  label="Where in the order it runs"
                  options={[
                    ...(custom
                      ? ([[String(form.priority), `${stageOf(form.priority)?.option}, at ${form.priority}`]] as const)
                      : []),
                    ...stages.map((s) => [String(s.from), s.option] as const),
                  ]}
                  value={String(form.priority)}
                  onChange={(e) => set({ priority: Number(e.target.value) })}
                />
              </div>
              <span className="small dim">
                Never changes what a person holds. Money out counts above zero, money in below.
              </span>
            </div>
            <datalist id="rule-tags">
              {known?.map((t) => (
                <option key={t.slug} value={t.slug} />
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
                  ? "Save"
                  : `${dirty ? "Save and change" : "Change"} ${will.toLocaleString("en")}${dirty ? "" : " payments"}`}
              </Button>
              {will > 0 && dirty && (
                <Button disabled={!ready} onClick={() => save.mutate(false)}>
                  Save for new ones only
                </Button>
              )}
              <Link className="link end" to="/rules">
                Cancel
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

import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { AppliedPlan, PlanItem } from "#/api/plans";
import { stay } from "#/parts/fields";
import { toolOf } from "./lines";

const text = (v: unknown) => (typeof v === "string" && v ? v : null);

type Kind = Exclude<PlanItem["subject"], "call">;

/** The names of subjects: in general, when created, and when changed. */
const kinds: Record<Kind, [MessageDescriptor, MessageDescriptor, MessageDescriptor]> = {
  transaction: [msg`Transaction`, msg`New transaction`, msg`Changed transaction`],
  rule: [msg`Rule`, msg`New rule`, msg`Changed rule`],
  tag: [msg`Tag`, msg`New tag`, msg`Changed tag`],
  category: [msg`Category`, msg`New category`, msg`Changed category`],
  counterparty: [msg`Payee`, msg`New payee`, msg`Changed payee`],
  account: [msg`Account`, msg`New account`, msg`Changed account`],
  account_link: [msg`Linked accounts`, msg`New linked accounts`, msg`Changed linked accounts`],
  report: [msg`Report`, msg`New report`, msg`Changed report`],
  target: [msg`Budget`, msg`New budget`, msg`Changed budget`],
  pattern: [msg`Recurring payment`, msg`New recurring payment`, msg`Changed recurring payment`],
};

/** The subject of a plan's item that is not about a transaction. */
export function aboutOf(i: PlanItem): string {
  if (i.subject === "call") {
    const tool = toolOf(i.tool);
    if (typeof i.found !== "number") return t`Then: ${tool}`;
    return plural(i.found, {
      one: `Then: ${tool} (about # transaction)`,
      other: `Then: ${tool} (about # transactions)`,
    });
  }
  const record = i.record as Record<string, unknown> | null;
  const name = text(record?.name) ?? text(record?.title) ?? text(record?.slug);
  const [alone, made, changed] = kinds[i.subject];
  if (i.field !== "record") return i18n._(alone);
  const kind = i18n._(i.before === null ? made : changed);
  return name ? t`${kind}: ${name}` : kind;
}

/** Whether an item closes the review of its transaction. */
export const isApproval = (i: PlanItem) => i.field.startsWith("tag") && i.before === "needs-review" && i.after === null;

/** The category that an item approves: the proposed one, or the current one if the proposal is excluded. */
export function approvedBy(i: PlanItem, all: readonly PlanItem[], out: ReadonlySet<number>): string | null {
  const move = all.find((x) => x.field === "category" && x.transaction_id === i.transaction_id);
  return move && out.has(move.seq) ? move.before : i.category;
}

/** The result of applying a plan. */
export function appliedOf(a: AppliedPlan): string {
  const why: Record<string, number> = {};
  for (const s of a.skipped) why[s.reason] = (why[s.reason] ?? 0) + 1;
  const done =
    a.state === "dropped"
      ? [t`No changes were left to apply.`]
      : [
          plural(a.applied, { one: "# change applied.", other: "# changes applied." }),
          a.calls.length
            ? plural(a.calls.length, { one: "# follow-up step started.", other: "# follow-up steps started." })
            : "",
        ];
  return [...done, stay(why)].filter(Boolean).join(" ");
}

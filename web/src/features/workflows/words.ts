import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { LastRun, Run, Workflow, WorkflowRecord } from "#/api/workflows";
import { ahead } from "#/lib/dates";
import { number } from "#/lib/words";
import type { Mood } from "#/ui/Chip";

export const turns = (n: number) => plural(n, { one: "# turn", other: "# turns" });
export const seconds = (n: number) => plural(n, { one: "# second", other: "# seconds" });
const minutes = (n: number) => plural(n, { one: "# minute", other: "# minutes" });

/** Counts of tokens: "8,120 tokens in, 1 token out". */
export const tokens = (input: number, output: number) =>
  t`${plural(input, { one: "# token in", other: "# tokens in" })}, ${plural(output, { one: "# token out", other: "# tokens out" })}`;

/** The name of the draft of a workflow's form. */
export const draftOf = (slug: string) => ["workflow", slug].join(" ");

/** The providers of models. `none` is the label of the choice without a provider. */
export const providers = (none: string) =>
  [
    ["", none],
    ["anthropic", "Anthropic"],
    ["openai_compatible", t`OpenAI-compatible`],
  ] as const;

/** The trigger of a workflow, in words. */
export function startsOf(w: Pick<Workflow, "trigger" | "schedule_text">): string {
  if (w.trigger === "after_sync") return t`After new transactions sync`;
  if (w.schedule_text) return w.schedule_text.charAt(0).toUpperCase() + w.schedule_text.slice(1);
  return t`Manually`;
}

/** When a workflow runs next, in words. */
export function nextOf(
  w: Pick<Workflow, "trigger" | "schedule" | "enabled" | "next_run_at">,
  now = new Date(),
): string {
  if (w.trigger === "manual") return t`Runs manually`;
  if (!w.enabled) return t`Off · run it manually`;
  if (w.next_run_at) {
    if (Date.parse(w.next_run_at) <= now.getTime()) return t`Starting soon`;
    return t`Next run ${{ time: ahead(w.next_run_at, now) }}`;
  }
  return w.trigger === "after_sync" ? t`Runs after new transactions sync` : t`On, not scheduled`;
}

/** How many of a workflow's reviewed changes people kept. */
export function recordOf(r: WorkflowRecord): string {
  const judged = r.kept + r.corrected + r.reverted + r.dropped;
  const { open } = r;
  if (judged === 0)
    return open
      ? plural(open, { one: "# change, none reviewed yet", other: "# changes, none reviewed yet" })
      : t`No changes yet`;
  const kept = number(r.kept);
  const parts = [
    t`${kept} of ${plural(judged, { one: "# reviewed change", other: "# reviewed changes" })} kept`,
    open ? plural(open, { one: "# not reviewed yet", other: "# not reviewed yet" }) : "",
  ];
  return parts.filter(Boolean).join(", ");
}

const statuses: Record<Run["status"], [words: MessageDescriptor, mood: Mood]> = {
  queued: [msg`Queued`, "pending"],
  running: [msg`Running`, "act"],
  succeeded: [msg`Done`, "in"],
  failed: [msg`Failed`, "bad"],
  cancelled: [msg`Stopped`, "plain"],
  limit_reached: [msg`Limit reached`, "warn"],
};

export const statusOf = (s: Run["status"]) => (statuses[s] ? i18n._(statuses[s][0]) : s);
export const moodOf = (s: Run["status"]) => statuses[s][1];

const states: Record<LastRun["plan_state"], MessageDescriptor | null> = {
  none: null,
  waiting: msg`changes need approval`,
  applied: msg`changes applied`,
  dropped: msg`changes discarded`,
};

export const planOf = (s: LastRun["plan_state"]) => (states[s] ? i18n._(states[s]) : null);

/** Why a limit ended a run, or why the run only proposed changes from then on. */
export function limitOf(limit: Run["limit"], of: Run["limits"]): string | null {
  const { max_turns, max_minutes, max_writes } = of;
  switch (limit) {
    case "max_turns":
      return plural(max_turns, { one: "Stopped at its limit of # turn.", other: "Stopped at its limit of # turns." });
    case "max_cost_usd":
      return t`Stopped before the next response could exceed its cost limit.`;
    case "monthly_ceiling_usd":
      return t`Stopped before the next response could exceed this month’s AI limit.`;
    case "max_minutes":
      return plural(max_minutes, {
        one: "Stopped at its limit of # minute.",
        other: "Stopped at its limit of # minutes.",
      });
    case "max_writes":
      if (max_writes === null) return t`Reached its limit of transactions. The rest needs your approval.`;
      return plural(max_writes, {
        one: "Reached its limit of # transaction. The rest needs your approval.",
        other: "Reached its limit of # transactions. The rest needs your approval.",
      });
    case "writes_per_day":
      return t`Agents reached today’s combined limit. The rest needs your approval.`;
    case "context":
      return t`Stopped: the conversation exceeded the model’s context.`;
    case "transcript":
      return t`Stopped: the transcript reached its maximum size.`;
    case "repeats":
      return t`Stopped: the model kept repeating the same request.`;
    default:
      return null;
  }
}

/** How long a run took, or has taken so far. */
export function took(from: string | null, to: string | null, now = Date.now()): string {
  if (!from) return t`Not started`;
  const s = Math.max(0, Math.round(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000));
  return s < 120 ? seconds(s) : minutes(Math.round(s / 60));
}

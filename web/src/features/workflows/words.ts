import type { LastRun, Run, Workflow, WorkflowRecord } from "#/api/workflows";
import { ahead } from "#/lib/dates";
import { payments } from "#/lib/words";
import type { Mood } from "#/ui/Chip";

const n = (x: number) => x.toLocaleString("en");

/** "3 turns", "1 turn". */
export const some = (x: number, one: string) => `${n(x)} ${x === 1 ? one : `${one}s`}`;

/** What starts a workflow, in words. */
export function startsOf(w: Pick<Workflow, "trigger" | "schedule_text">): string {
  if (w.trigger === "after_sync") return "After a sync that brings something new";
  if (w.schedule_text) return w.schedule_text.charAt(0).toUpperCase() + w.schedule_text.slice(1);
  return "When you start it";
}

/** When a workflow starts next, in words. */
export function nextOf(
  w: Pick<Workflow, "trigger" | "schedule" | "enabled" | "next_run_at">,
  now = new Date(),
): string {
  if (w.trigger === "manual") return "Starts when you start it";
  if (!w.enabled) return "Off: starts only when you start it";
  if (w.next_run_at) {
    return Date.parse(w.next_run_at) <= now.getTime() ? "Starts in a moment" : `Starts ${ahead(w.next_run_at, now)}`;
  }
  return w.trigger === "after_sync" ? "Starts after a sync that brings something new" : "On, and nothing is planned";
}

/** How often what it decided was right, as far as somebody looked. */
export function recordOf(r: WorkflowRecord): string {
  const judged = r.kept + r.corrected + r.reverted + r.dropped;
  if (judged === 0) return r.open ? `${some(r.open, "decision")}, none looked at yet` : "No decisions yet";
  const stood = `Right ${n(r.kept)} of ${some(judged, "time")} that somebody looked`;
  return r.open ? `${stood}, ${n(r.open)} not looked at yet` : stood;
}

const statuses: Record<Run["status"], [words: string, mood: Mood]> = {
  queued: ["Waits for its turn", "pending"],
  running: ["Running", "act"],
  succeeded: ["Done", "in"],
  failed: ["Failed", "bad"],
  cancelled: ["Stopped", "plain"],
  limit_reached: ["Ended at a limit", "warn"],
};

export const statusOf = (s: Run["status"]) => statuses[s]?.[0] ?? s;
export const moodOf = (s: Run["status"]) => statuses[s][1];

const states: Record<LastRun["plan_state"], string | null> = {
  none: null,
  waiting: "its plan waits for you",
  applied: "its plan was applied",
  dropped: "its plan was dropped",
};

export const planOf = (s: LastRun["plan_state"]) => states[s];

/** Why a run ended before the model did, or began to plan. */
export function limitOf(limit: Run["limit"], of: Run["limits"]): string | null {
  switch (limit) {
    case "max_turns":
      return `It reached its limit of ${some(of.max_turns, "turn")} and ended.`;
    case "max_cost_usd":
      return "The next answer could have cost more than was left of its cap, so it ended before it was asked for.";
    case "monthly_ceiling_usd":
      return "The next answer could have gone over this month’s ceiling for models, so it ended before it was asked for.";
    case "max_minutes":
      return `It reached its limit of ${some(of.max_minutes, "minute")} and ended.`;
    case "max_writes":
      return `It changed as many payments as it may${of.max_writes === null ? "" : `, ${n(of.max_writes)}`}. The rest is a plan.`;
    case "writes_per_day":
      return "Agents changed as many payments today as all of them may together. The rest is a plan.";
    case "context":
      return "The conversation grew longer than the model can read, so it ended.";
    case "transcript":
      return "The transcript grew as long as it may, so it ended.";
    case "repeats":
      return "It asked for the same thing again and again, so it ended.";
    default:
      return null;
  }
}

/** What a plan would do, in words. */
export function planned(p: Run["plan"]): string {
  const what = [p.transactions ? payments(p.transactions) : "", p.entries ? some(p.entries, "field") : ""];
  const change = what.filter(Boolean).join(", ");
  const calls = p.calls ? some(p.calls, "step") : "";
  return [change ? `Would change ${change}` : "", calls && change ? `then ${calls}` : calls && `Would make ${calls}`]
    .filter(Boolean)
    .join(", ");
}

/** How long a run took, or takes. */
export function took(from: string | null, to: string | null, now = Date.now()): string {
  if (!from) return "Not started yet";
  const s = Math.max(0, Math.round(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000));
  return s < 120 ? some(s, "second") : some(Math.round(s / 60), "minute");
}

import type { Schemas } from "#/api/client";

type Record = Schemas["AgentRecord"];

const n = (x: number) => x.toLocaleString("en");

/** How well someone's decisions stood, in words: what people kept or changed, and not a percentage. */
export function recordOf(r: Record | undefined): string | null {
  if (!r) return null;
  if (r.decisions === 0) return "first time here";
  const changed = r.corrected + r.reverted;
  const judged = r.kept + changed;
  if (judged === 0) return `${n(r.open)} to look at, none judged yet`;
  const times = judged === 1 ? "time" : "times";
  const stood =
    r.kept >= changed ? `${n(r.kept)} of ${n(judged)} kept` : `you changed it ${n(changed)} of ${n(judged)} ${times}`;
  return r.open ? `${stood}, ${n(r.open)} not looked at yet` : stood;
}

/** What a record is made of, for those who ask. */
export const recordHint = "Of the last 90 days, at most the newest 200 decisions";

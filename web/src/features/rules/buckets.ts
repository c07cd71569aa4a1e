import type { Rehearsal } from "#/api/rules";
import { overrulers } from "./form";

export type Bucket = "changes" | "already_so" | "held" | "overridden";

export const buckets: Record<Bucket, string> = {
  changes: "Will change",
  already_so: "Already so",
  held: "Held",
  overridden: "Overruled",
};

const n = (x: number) => x.toLocaleString("en");

/** The four figures, each with a few words. What will change is counted in payments, because that is what people count. */
export function figures(r: Rehearsal): { bucket: Bucket; count: number; says: string }[] {
  const { counts: c } = r;
  const by = overrulers(r).map((o) => `“${o.name}”`);
  return [
    {
      bucket: "changes",
      count: r.changed,
      says: c.changes > r.changed ? `${n(c.changes)} fields of payments` : "payments",
    },
    { bucket: "already_so", count: c.already_so, says: "nothing to do" },
    { bucket: "held", count: c.held, says: c.held ? "set by a person, stays" : "by nobody" },
    {
      bucket: "overridden",
      count: c.overridden,
      says: by.length === 0 ? "by no rule" : by.length > 1 ? `by ${by[0]} and ${by.length - 1} more` : `by ${by[0]}`,
    },
  ];
}

/** The figures in one line, for where there is no room. */
export const summary = (r: Rehearsal) =>
  figures(r)
    .filter((f) => f.bucket === "changes" || f.count > 0)
    .map((f) => `${n(f.count)} ${buckets[f.bucket].toLowerCase()}`)
    .join(" · ");

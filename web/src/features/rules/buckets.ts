import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Rehearsal } from "#/api/rules";
import { overrulers } from "./form";

export type Bucket = "changes" | "already_so" | "held" | "overridden";

export const buckets: Record<Bucket, MessageDescriptor> = {
  changes: msg`Will change`,
  already_so: msg`No change`,
  held: msg`Locked`,
  overridden: msg`Overridden`,
};

const counted: Record<Bucket, (n: number) => string> = {
  changes: (n) => plural(n, { one: "# will change", other: "# will change" }),
  already_so: (n) => plural(n, { one: "# unchanged", other: "# unchanged" }),
  held: (n) => plural(n, { one: "# locked", other: "# locked" }),
  overridden: (n) => plural(n, { one: "# overridden", other: "# overridden" }),
};

function overriddenBy([rule, ...more]: string[]): string {
  if (rule === undefined) return t`none`;
  if (more.length === 0) return t`by “${rule}”`;
  return t`by “${rule}” and ${plural(more.length, { one: "# more", other: "# more" })}`;
}

/** The four figures of a preview, each with a short text. Changes are counted in transactions, as people count them. */
export function figures(r: Rehearsal): { bucket: Bucket; count: number; says: string }[] {
  const { counts: c } = r;
  return [
    {
      bucket: "changes",
      count: r.changed,
      says:
        c.changes > r.changed
          ? plural(c.changes, { one: "# change", other: "# changes" })
          : plural(r.changed, { one: "transaction", other: "transactions" }),
    },
    {
      bucket: "already_so",
      count: c.already_so,
      says: c.already_so > r.matched ? t`values already set` : t`already set`,
    },
    { bucket: "held", count: c.held, says: c.held ? t`set by a person` : t`none` },
    { bucket: "overridden", count: c.overridden, says: overriddenBy(overrulers(r).map((o) => o.name)) },
  ];
}

/** The figures in one line, for narrow places. */
export const summary = (r: Rehearsal) =>
  figures(r)
    .filter((f) => f.bucket === "changes" || f.count > 0)
    .map((f) => counted[f.bucket](f.count))
    .join(" · ");

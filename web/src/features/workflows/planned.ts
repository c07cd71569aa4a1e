import type { AppliedPlan, PlanItem } from "#/api/plans";
import { payments } from "#/lib/words";
import { stay } from "#/parts/fields";
import { toolOf } from "./lines";
import { some } from "./words";

const text = (v: unknown) => (typeof v === "string" && v ? v : null);

/** What an item of a plan is about, if it is not a payment. */
export function aboutOf(i: PlanItem): string {
  if (i.subject === "call") {
    const found = typeof i.found === "number" ? `, about ${payments(i.found)}` : "";
    return `Then: ${toolOf(i.tool)}${found}`;
  }
  const kind = i.subject.replaceAll("_", " ");
  const record = i.record as Record<string, unknown> | null;
  const name = text(record?.name) ?? text(record?.title) ?? text(record?.slug);
  if (i.field !== "record") return kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${i.before === null ? "New" : "Changed"} ${kind}${name ? `: ${name}` : ""}`;
}

/** What came of applying a plan. */
export function appliedOf(a: AppliedPlan): string {
  const why: Record<string, number> = {};
  for (const s of a.skipped) why[s.reason] = (why[s.reason] ?? 0) + 1;
  const calls = a.calls.length ? ` ${some(a.calls.length, "step")} went on after that.` : "";
  return `${some(a.applied, "field")} changed.${calls} ${stay(why)}`.trim();
}

import { plural, t } from "@lingui/core/macro";
import type { Run } from "#/api/workflows";

export const changes = (n: number) => plural(n, { one: "# change", other: "# changes" });

/** The effect of a plan's proposed changes, in words. */
export function planned(p: Run["plan"]): string {
  const would = [];
  if (p.transactions) {
    const rows = p.transactions;
    would.push(
      p.entries
        ? t`${plural(rows, { one: "Would change # transaction", other: "Would change # transactions" })} (${{ changes: changes(p.entries) }})`
        : plural(rows, { one: "Would change # transaction", other: "Would change # transactions" }),
    );
  } else if (p.entries) would.push(plural(p.entries, { one: "Would make # change", other: "Would make # changes" }));
  if (p.calls) would.push(plural(p.calls, { one: "Would run # step", other: "Would run # steps" }));
  return would.join(" · ");
}

import { plural, t } from "@lingui/core/macro";
import type { Run } from "#/api/workflows";
import { transactions } from "#/lib/words";

export const changes = (n: number) => plural(n, { one: "# change", other: "# changes" });
export const steps = (n: number) => plural(n, { one: "# step", other: "# steps" });

/** What proposed changes would do, in words. */
export function planned(p: Run["plan"]): string {
  const would = [];
  if (p.transactions) {
    const rows = transactions(p.transactions);
    would.push(p.entries ? t`Would change ${rows} (${{ changes: changes(p.entries) }})` : t`Would change ${rows}`);
  } else if (p.entries) would.push(t`Would make ${{ changes: changes(p.entries) }}`);
  if (p.calls) would.push(t`Would run ${{ steps: steps(p.calls) }}`);
  return would.join(" · ");
}

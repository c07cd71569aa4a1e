import { plural, t } from "@lingui/core/macro";
import type { Rule } from "#/api/rules";
import { Card } from "#/ui/Card";
import { Lines } from "#/ui/Lines";
import { RuleLine } from "./RuleLine";

/** Suggested rules, each to be accepted or deleted. */
export function Suggested({ rules, writes }: { rules: readonly Rule[]; writes: boolean }) {
  if (rules.length === 0) return null;
  return (
    <Card
      flush
      title={plural(rules.length, { one: "# suggested rule", other: "# suggested rules" })}
      aside={t`Inactive until accepted`}
    >
      <Lines label={t`Suggested rules`}>
        {rules.map((r) => (
          <RuleLine key={r.id} rule={r} writes={writes} up={null} down={null} />
        ))}
      </Lines>
    </Card>
  );
}

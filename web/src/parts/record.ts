import { plural, t } from "@lingui/core/macro";
import type { Schemas } from "#/api/client";
import { number } from "#/lib/words";

type Record = Schemas["AgentRecord"];

/**
 * The outcome of someone's decisions, as counts and not as a percentage: how many people kept, and how many they
 * corrected.
 */
export function recordOf(r: Record | undefined): string | null {
  if (!r) return null;
  if (r.decisions === 0) return t`no track record yet`;
  const corrected = r.corrected + r.reverted;
  const all = r.kept + corrected;
  if (all === 0) return plural(r.open, { one: "# change, not reviewed yet", other: "# changes, none reviewed yet" });
  const of = number(all);
  const parts = [
    r.kept >= corrected
      ? plural({ kept: r.kept }, { one: `# of ${of} kept`, other: `# of ${of} kept` })
      : plural({ corrected }, { one: `# of ${of} corrected`, other: `# of ${of} corrected` }),
    r.open ? plural(r.open, { one: "# not reviewed yet", other: "# not reviewed yet" }) : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** The decisions that a track record counts. */
export const recordHint = () => t`Last 90 days, up to 200 decisions`;

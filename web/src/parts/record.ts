import { plural, t } from "@lingui/core/macro";
import type { Schemas } from "#/api/client";
import { number } from "#/lib/words";

type Record = Schemas["AgentRecord"];

/**
 * The outcome of someone's decisions, in counts and not as a percentage: how many people kept and how many they
 * corrected.
 */
export function recordOf(r: Record | undefined): string | null {
  if (!r) return null;
  if (r.decisions === 0) return t`no track record yet`;
  const corrected = r.corrected + r.reverted;
  const all = r.kept + corrected;
  if (all === 0) return plural(r.open, { one: "# change, not reviewed yet", other: "# changes, none reviewed yet" });
  const [some, of, open] = [number(r.kept >= corrected ? r.kept : corrected), number(all), number(r.open)];
  if (r.kept >= corrected)
    return r.open ? t`${some} of ${of} kept, ${open} not reviewed yet` : t`${some} of ${of} kept`;
  return r.open ? t`${some} of ${of} corrected, ${open} not reviewed yet` : t`${some} of ${of} corrected`;
}

/** The basis of a track record. */
export const recordHint = () => t`Last 90 days, up to 200 decisions`;

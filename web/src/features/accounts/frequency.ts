import { plural, t } from "@lingui/core/macro";

const hour = 3600;

/** A number of seconds as a frequency, in words. */
function every(seconds: number): string {
  if (seconds === 7 * 24 * hour) return t`Once a week`;
  if (seconds === 24 * hour) return t`Once a day`;
  const n = seconds / hour;
  if (Number.isInteger(n)) return plural(n, { one: "Every hour", other: "Every # hours" });
  const minutes = Math.round(seconds / 60);
  return plural(minutes, { one: "Every minute", other: "Every # minutes" });
}

/**
 * The choices for how often a bank syncs: the usual ones that its provider allows, and the current one. Syncing more
 * often than the provider's minimum would bring nothing new, so coffer never does.
 */
export function frequencies(leastMinutes: number, own: number | null | undefined) {
  const least = leastMinutes * 60;
  const now = own ? Math.max(own, least) : undefined;
  const all = [hour, 4 * hour, 12 * hour, 24 * hour, 7 * 24 * hour].filter((s) => s >= least);
  if (least > hour) all.push(least);
  if (now) all.push(now);
  const sorted = [...new Set(all)].sort((a, b) => a - b);
  return {
    value: String(now ?? ""),
    options: [["", t`Household default`] as const, ...sorted.map((s) => [String(s), every(s)] as const)],
  };
}

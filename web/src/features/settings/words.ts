import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { BankField, BankProvider } from "#/api/providers";
import { number } from "#/lib/words";

/** A number of seconds as a frequency, in words. */
export function every(seconds: number): string {
  const unitsOf = (size: number) => (seconds >= size && seconds % size === 0 ? seconds / size : 0);
  const [days, hours, minutes] = [unitsOf(86_400), unitsOf(3600), unitsOf(60)];
  if (days) return plural(days, { one: "Every day", other: "Every # days" });
  if (hours) return plural(hours, { one: "Every hour", other: "Every # hours" });
  if (minutes) return plural(minutes, { one: "Every minute", other: "Every # minutes" });
  return plural(seconds, { one: "Every second", other: "Every # seconds" });
}

export const hours = (seconds: number) => Math.round((seconds / 3600) * 100) / 100;

/** How long coffer keeps sync logs, in words. */
export const retention = (days: number | null) =>
  days === null ? t`Forever` : plural(days, { one: "# day", other: "# days" });

/** The time zones that the browser knows, and the current one if it is not among them. */
export function zones(now: string): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return known.includes(now) ? known : [now, ...known];
}

/** Whether a provider sends webhooks, so that coffer's address must be set up there. */
export const sendsWebhooks = (p: Pick<BankProvider, "capabilities">) => p.capabilities.includes("webhooks");

/** The visible part of a secret, or that it is not set. */
export const masked = (f: { set: boolean; hint?: string; masked?: string; value?: string }) =>
  f.set ? (f.masked ?? f.hint ?? f.value ?? t`set`) : t`Not set`;

/** Fields with names in every language. Other fields have the server's English text. */
const fields: Record<string, { name: MessageDescriptor; hint?: MessageDescriptor }> = {
  environment: { name: msg`Environment` },
  client_id: { name: msg`Client ID` },
  secret: { name: msg`Secret` },
  application_id: { name: msg`Application ID` },
  certificate: { name: msg`Certificate`, hint: msg`PEM; required outside the sandbox` },
  private_key: { name: msg`Private key`, hint: msg`PEM key for that certificate` },
  signing_key: { name: msg`Token signing key`, hint: msg`Needed to verify that a new connection is genuine` },
  webhook_secrets: { name: msg`Webhook secrets`, hint: msg`Separate with commas` },
};

export function fieldOf({ name, title, help }: Pick<BankField, "name" | "title" | "help">) {
  const f = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!f) return { name: title, hint: help };
  return { name: i18n._(f.name), hint: f.hint && i18n._(f.hint) };
}

const environments: Record<string, MessageDescriptor> = {
  sandbox: msg`Sandbox (test banks)`,
  development: msg`Development`,
  production: msg`Production (real banks)`,
};
export const environment = (key: string) => (environments[key] ? i18n._(environments[key]) : key);

/** How many tokens a test used. */
export function counted({
  input_tokens: a,
  output_tokens: b,
}: {
  input_tokens: number | null;
  output_tokens: number | null;
}): string {
  if (a === null || b === null) return t`Not reported by the server`;
  return t`${{ input: number(a) }} in, ${{ output: number(b) }} out`;
}

/** A duration in seconds, with tenths below ten seconds. */
export function seconds(ms: number): string {
  const s = ms < 10_000 ? Math.max(1, Math.round(ms / 100)) / 10 : Math.round(ms / 1000);
  return plural(s, { one: "# second", other: "# seconds" });
}

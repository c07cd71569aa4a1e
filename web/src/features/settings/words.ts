/** Seconds as people say them. */
export function every(seconds: number): string {
  for (const [unit, size] of [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ] as const) {
    const n = seconds / size;
    if (Number.isInteger(n) && n >= 1) return n === 1 ? `Every ${unit}` : `Every ${n} ${unit}s`;
  }
  return `Every ${seconds} seconds`;
}

export const hours = (seconds: number) => Math.round((seconds / 3600) * 100) / 100;

/** How long sync logs are kept. */
export const kept = (days: number | null) => (days === null ? "For ever" : days === 1 ? "1 day" : `${days} days`);

/** The time zones that this browser knows, with the one that is set. */
export function zones(now: string): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return known.includes(now) ? known : [now, ...known];
}

/** What a secret shows of itself. */
export const masked = (f: { set: boolean; hint?: string; masked?: string; value?: string }) =>
  f.set ? (f.masked ?? f.hint ?? f.value ?? "set") : "Not set";

/** The fields of a provider, in words; those that hold several lines are pasted. */
export const fields: Record<string, { name: string; hint?: string; lines?: true; open?: true }> = {
  client_id: { name: "Client ID", open: true },
  secret: { name: "Secret" },
  application_id: { name: "Application ID", open: true },
  certificate: { name: "Certificate", lines: true, hint: "PEM; needed outside the sandbox" },
  private_key: { name: "Private key", lines: true, hint: "PEM, of that certificate" },
  signing_key: { name: "Token signing key", hint: "Without it, the result of Teller Connect is not verified" },
  webhook_secrets: { name: "Webhook secrets", hint: "Parted by commas" },
};

/** How many tokens a test took. */
export function counted(t: { input_tokens: number | null; output_tokens: number | null }): string {
  if (t.input_tokens === null || t.output_tokens === null) return "Its server does not count them";
  return `${t.input_tokens.toLocaleString("en")} in, ${t.output_tokens.toLocaleString("en")} out`;
}

/** A time in seconds, to the tenth below ten. */
export function seconds(ms: number): string {
  const s = ms < 10_000 ? Math.max(1, Math.round(ms / 100)) / 10 : Math.round(ms / 1000);
  return s === 1 ? "1 second" : `${s} seconds`;
}

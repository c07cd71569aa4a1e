import type { Schemas } from "#/api/client";

type Annotation = Pick<
  Schemas["Annotation"],
  "kind" | "action" | "before" | "after" | "actor_name" | "rule_name" | "actor_type"
>;

/** What happened to a payment, in one sentence. */
export function tell(a: Annotation, category: (slug: string) => string): string {
  const who = a.rule_name ? `Rule “${a.rule_name}”` : a.actor_type === "system" ? "coffer" : a.actor_name;
  const named = (v: string | null) => (v ? category(v) : "no category");
  switch (a.kind) {
    case "category":
      return a.before
        ? `${who} moved it from ${named(a.before)} to ${named(a.after)}`
        : `${who} filed it under ${named(a.after)}`;
    case "tag":
      return a.action === "removed" ? `${who} took #${a.before ?? a.after} off` : `${who} tagged it #${a.after}`;
    case "counterparty":
      return `${who} changed the payee`;
    case "comment":
      return a.action === "removed" ? `${who} took a comment back` : `${who} commented`;
    case "split":
      return a.action === "removed" ? `${who} joined its parts` : `${who} split it`;
    case "sync":
      return (
        {
          posted: "The bank booked it",
          removed_by_provider: "The bank took it back",
          restored: "It came back",
          created: "It came in",
        }[a.action as "posted"] ?? "The bank changed it"
      );
    default:
      return `${who} looked at it`;
  }
}

import type { Author } from "#/ui/AuthorBadge";

/** The author of a category, made from the source that the server reports. */
export function authorOf(source: string | null | undefined, name?: string | null): Author | null {
  switch (source) {
    case "rule":
      return { kind: "rule" };
    case "user":
      return { kind: "person", name: name ?? undefined };
    case "agent":
      return { kind: "agent", name: name ?? undefined };
    case "provider":
      return { kind: "bank" };
    default:
      return null;
  }
}

/** The author of a change, made from its actor and its cause. */
export function authorOfChange(c: { actor_type: string; actor_name: string; cause?: string | null }): Author {
  if (c.actor_type === "user") return { kind: "person", name: c.actor_name };
  if (c.actor_type === "agent") return { kind: "agent", name: c.actor_name };
  return c.cause === "rule" ? { kind: "rule" } : { kind: "bank" };
}

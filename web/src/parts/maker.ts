import type { Maker } from "#/ui/Seal";

/** Whose seal a category carries, by where it came from. */
export function makerOf(source: string | null | undefined, name?: string | null): Maker | null {
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

/** Whose seal a change carries, by who made it and why. */
export function actorOf(c: { actor_type: string; actor_name: string; cause?: string | null }): Maker {
  if (c.actor_type === "user") return { kind: "person", name: c.actor_name };
  if (c.actor_type === "agent") return { kind: "agent", name: c.actor_name };
  return c.cause === "rule" ? { kind: "rule" } : { kind: "bank" };
}

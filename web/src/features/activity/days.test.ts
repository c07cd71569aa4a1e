import { expect, it } from "vitest";
import { daysOf, span } from "./days";

const change = (id: string, at: string, x: object = {}) =>
  ({
    id,
    created_at: new Date(at).toISOString(),
    reverts: null,
    reverted_by: null,
    actor_type: "user",
    actor_id: "me",
    ...x,
  }) as never;

it("folds a revert into what it took back", () => {
  const days = daysOf([
    change("c", "2026-11-15T12:00:00", { reverts: "a" }),
    change("b", "2026-11-15T11:00:00"),
    change("a", "2026-11-14T10:00:00", { reverted_by: "c" }),
  ]);
  expect(days.map((d) => [d.day, d.groups.map((g) => g.items.map((x) => [x.change.id, x.undoneBy?.id]))])).toEqual([
    ["2026-11-15", [[["b", undefined]]]],
    ["2026-11-14", [[["a", "c"]]]],
  ]);
});

it("puts an agent's day together, and leaves people's changes apart", () => {
  const agent = { actor_type: "agent", actor_id: "bot" };
  const [day] = daysOf([
    change("e", "2026-11-15T12:00:00", agent),
    change("d", "2026-11-15T11:00:00"),
    change("c", "2026-11-15T10:00:00", agent),
    change("b", "2026-11-15T09:00:00"),
  ]);
  expect(day?.groups.map((g) => [g.actor, g.items.map((d) => d.change.id)])).toEqual([
    ["bot", ["e", "c"]],
    [null, ["d"]],
    [null, ["b"]],
  ]);
});

it("shows a revert of something older", () => {
  expect(daysOf([change("c", "2026-11-15T12:00:00", { reverts: "gone" })])[0]?.groups).toHaveLength(1);
});

it("knows how long a day and an hour last", () => {
  const at = new Date(2026, 10, 15, 6, 12).toISOString();
  expect(span(at, "day")).toEqual({
    since: new Date(2026, 10, 15).toISOString(),
    until: new Date(2026, 10, 16).toISOString(),
  });
  expect(span(at, "hour").since).toBe(new Date(2026, 10, 15, 6).toISOString());
});

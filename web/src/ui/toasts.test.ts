import { beforeEach, expect, it } from "vitest";
import { toasts } from "./toasts";

beforeEach(() => toasts.clear());

it("keeps three", () => {
  for (const text of ["a", "b", "c", "d"]) toasts.say({ text });
  expect(toasts.get().map((t) => t.text)).toEqual(["b", "c", "d"]);
});

it("joins equal ones, but never two that can be undone", () => {
  toasts.say({ text: "Offline" });
  toasts.say({ text: "Offline" });
  toasts.say({ text: "Filed", undo: () => {} });
  toasts.say({ text: "Filed", undo: () => {} });
  expect(toasts.get().map((t) => [t.text, t.times])).toEqual([
    ["Offline", 2],
    ["Filed", 1],
    ["Filed", 1],
  ]);
});

it("offers no undo of what is undone already", () => {
  toasts.say({ text: "Filed", undo: () => {}, of: ["a", "b"] });
  toasts.say({ text: "Tagged", undo: () => {}, of: ["c"] });
  toasts.dropOf(["b", "a"]);
  expect(toasts.get().map((t) => t.text)).toEqual(["Tagged"]);
});

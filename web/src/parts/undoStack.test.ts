import { beforeEach, expect, it } from "vitest";
import { undoStack } from "./undoStack";

beforeEach(() => undoStack.clear());

it("goes back and forth through one's own changes", () => {
  undoStack.did(["a"]);
  undoStack.did(["b"]);
  expect(undoStack.last()).toEqual(["b"]);
  undoStack.undid(["b"], ["-b"]);
  expect([undoStack.last(), undoStack.next()]).toEqual([["a"], ["-b"]]);
  undoStack.undid(["-b"], ["--b"]);
  expect([undoStack.last(), undoStack.next()]).toEqual([["--b"], undefined]);
});

it("knows which changes still stand, however often they were undone and done again", () => {
  const standing = () => ["s", "t", "u"].map(undoStack.stands);
  undoStack.did(["s", "t"]);
  undoStack.did(["u"]);
  undoStack.undid(["s", "t"], ["-t", "-s"]);
  expect(standing()).toEqual([false, false, true]);
  undoStack.did(["v"]);
  undoStack.undid(["-t", "-s"], ["--s", "--t"]);
  expect(standing()).toEqual([true, true, true]);
  undoStack.undid(["--s", "--t"], ["---t"]);
  expect(standing()).toEqual([false, false, true]);
});

it("takes a change once, and knows whether the screens have it", () => {
  undoStack.did(["w"], false);
  undoStack.did(["w"], false);
  expect([undoStack.last(), undoStack.knows("w")]).toEqual([["w"], false]);
  undoStack.undid(["w"], ["-w"]);
  expect(undoStack.last()).toBeUndefined();
});

it("forgets what could be done again once something else is done", () => {
  undoStack.did(["a"]);
  undoStack.undid(["a"], ["-a"]);
  undoStack.did(["c"]);
  expect([undoStack.last(), undoStack.next()]).toEqual([["c"], undefined]);
});

it("remembers nothing that wrote nothing", () => {
  undoStack.did([]);
  expect(undoStack.last()).toBeUndefined();
});

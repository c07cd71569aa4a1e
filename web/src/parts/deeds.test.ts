import { beforeEach, expect, it } from "vitest";
import { deeds } from "./deeds";

beforeEach(() => deeds.clear());

it("goes back and forth through one's own changes", () => {
  deeds.did(["a"]);
  deeds.did(["b"]);
  expect(deeds.last()).toEqual(["b"]);
  deeds.undid(["b"], ["-b"]);
  expect([deeds.last(), deeds.next()]).toEqual([["a"], ["-b"]]);
  deeds.undid(["-b"], ["--b"]);
  expect([deeds.last(), deeds.next()]).toEqual([["--b"], undefined]);
});

it("knows which deeds still stand, however often they were undone and done again", () => {
  const standing = () => ["s", "t", "u"].map(deeds.stands);
  deeds.did(["s", "t"]);
  deeds.did(["u"]);
  deeds.undid(["s", "t"], ["-t", "-s"]);
  expect(standing()).toEqual([false, false, true]);
  deeds.did(["v"]);
  deeds.undid(["-t", "-s"], ["--s", "--t"]);
  expect(standing()).toEqual([true, true, true]);
  deeds.undid(["--s", "--t"], ["---t"]);
  expect(standing()).toEqual([false, false, true]);
});

it("forgets what could be done again once something else is done", () => {
  deeds.did(["a"]);
  deeds.undid(["a"], ["-a"]);
  deeds.did(["c"]);
  expect([deeds.last(), deeds.next()]).toEqual([["c"], undefined]);
});

it("remembers nothing that wrote nothing", () => {
  deeds.did([]);
  expect(deeds.last()).toBeUndefined();
});

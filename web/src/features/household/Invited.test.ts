import { expect, it } from "vitest";
import { onlyHere } from "./Invited";

it("knows links that no phone can open", () => {
  const all = ["http://127.0.0.1:8080/join/x", "http://localhost/join/x", "http://[::1]:9/join/x"];
  expect(all.map(onlyHere)).toEqual([true, true, true]);
  const others = ["https://192.168.1.5:8443/join/x", "https://coffer.example/join/127.0.0.1", "https://desk.local/j"];
  expect(others.map(onlyHere)).toEqual([false, false, false]);
});

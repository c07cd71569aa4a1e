import { expect, it } from "vitest";
import { resumed } from "./draft";
import { blank } from "./form";

it("goes on with a draft of the same rule, and forgets one of a rule that was saved since", () => {
  const form = { ...blank, name: "Coffee" };
  const draft = JSON.stringify({ start: blank, form });
  expect(resumed(draft, blank)).toEqual(form);
  expect(resumed(draft, { ...blank, priority: 50 })).toEqual({ ...blank, priority: 50 });
  expect(resumed(null, blank)).toBe(blank);
});

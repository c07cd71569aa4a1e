import { beforeEach, expect, it } from "vitest";
import { meanings } from "./meanings";
import { explain, meaning, refusal } from "./refusals";

const error = { code: "CONFLICT", message: "the tag home exists already" };

beforeEach(() => explain({}));

it("leaves the service's words to whoever reads them", () => {
  expect(refusal(error)).toBe("The tag home exists already.");
  expect(meaning("CONFLICT")).toBe("");
});

it("says first in the reader's language what the service then says in English", () => {
  explain(meanings);
  expect(refusal(error)).toBe(
    "This doesn’t fit with what’s already there, or someone changed it in the meantime. The tag home exists already.",
  );
  expect(meaning("VALIDATION_ERROR")).toBe("Check what you entered.");
  expect(refusal({ code: "RATE_LIMITED", message: "" })).toBe("Too many requests. Wait a moment and try again.");
});

it("replaces what is for programs", () => {
  expect(refusal({ code: "PRECONDITION_FAILED", message: "repeat your change with its new ETag" })).toMatch(
    /^Someone changed this/,
  );
  expect(refusal({ code: "NOT_FOUND", message: "transaction not found; GET /api/v1/transactions lists them" })).toBe(
    "Transaction not found.",
  );
});

it("falls back to the service's words", () => {
  explain(meanings);
  expect(refusal({ code: "NEW_CODE", message: "no" })).toBe("No.");
  expect(refusal({ code: "constructor", message: "no" })).toBe("No.");
});

import { expect, it } from "vitest";
import { ApiError } from "#/api/client";
import { proof, proven } from "./proof";

const stale = new ApiError(403, "PROOF_REQUIRED", "sign in again at /login?again=1");

it("does it once more after a sign-in", async () => {
  let calls = 0;
  const done = proven(async () => {
    calls++;
    if (calls === 1) throw stale;
    return "made";
  });
  await new Promise((r) => setTimeout(r));
  proof.given();
  expect(await done).toBe("made");
  expect(calls).toBe(2);
});

it("gives the refusal back if nobody signs in", async () => {
  const done = proven(() => Promise.reject(stale));
  const seen = expect(done).rejects.toBe(stale);
  await new Promise((r) => setTimeout(r));
  proof.refused();
  await seen;
});

it("asks nobody about another refusal", async () => {
  const other = new ApiError(403, "FORBIDDEN", "only an admin may do this");
  await expect(proven(() => Promise.reject(other))).rejects.toBe(other);
});

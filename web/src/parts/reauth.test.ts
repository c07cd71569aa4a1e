import { expect, it } from "vitest";
import { ApiError } from "#/api/client";
import { reauth, withReauth } from "./reauth";

const stale = new ApiError(403, "PROOF_REQUIRED", "sign in again at /login?again=1");

it("does it once more after a sign-in", async () => {
  let calls = 0;
  const done = withReauth(async () => {
    calls++;
    if (calls === 1) throw stale;
    return "made";
  });
  await new Promise((r) => setTimeout(r));
  reauth.confirm();
  expect(await done).toBe("made");
  expect(calls).toBe(2);
});

it("gives the refusal back if nobody signs in", async () => {
  const done = withReauth(() => Promise.reject(stale));
  const rejection = expect(done).rejects.toBe(stale);
  await new Promise((r) => setTimeout(r));
  reauth.cancel();
  await rejection;
});

it("asks nobody about another refusal", async () => {
  const other = new ApiError(403, "FORBIDDEN", "only an admin may do this");
  await expect(withReauth(() => Promise.reject(other))).rejects.toBe(other);
});

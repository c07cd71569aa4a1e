import { t } from "@lingui/core/macro";
import { queryOptions } from "@tanstack/react-query";
import { recorded } from "./changes";
import { answer, api, once, type Schemas, staleAfter } from "./client";
import { type Job, jobEnd } from "./jobs";

export type Account = Schemas["Account"];
export type DailyBalance = Schemas["AccountBalance"];
export type Proof = Schemas["AccountBooksProof"];
export type Interval = Schemas["AccountBooksInterval"];
export type Candidate = Schemas["AccountBooksCandidate"];

export const accounts = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/accounts", { signal })),
  staleTime: staleAfter.minute,
});

const daysPerPage = 500;
const pages = 12;

/** The days on which an account's balance is known, oldest first. It is stated, or computed from transactions. */
export const balances = (id: string, start_date?: string) =>
  queryOptions({
    queryKey: ["accounts", "balances", id, start_date],
    queryFn: async ({ signal }) => {
      const out: DailyBalance[] = [];
      for (let cursor = "", n = 0; n < pages; n++) {
        const p = await answer(
          api.GET("/api/v1/accounts/{id}/balances", {
            params: {
              path: { id },
              query: { start_date, derive: true, limit: daysPerPage, ...(cursor ? { cursor } : {}) },
            },
            signal,
          }),
        );
        out.push(...p.balances);
        cursor = p.next_cursor;
        if (!p.has_more) break;
      }
      return out.reverse();
    },
    staleTime: staleAfter.minute,
  });

/** Whether the transactions of an account explain its balances, and the days on which they do not. */
export const balanceProof = (id: string) =>
  queryOptions({
    queryKey: ["accounts", "proof", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/accounts/{id}/proof", { params: { path: { id } }, signal })),
    staleTime: staleAfter.minute,
  });

/** Sets an account's balance at the end of a day. */
export const setBalance = (id: string, day: string, current: number) =>
  recorded(api.PUT("/api/v1/accounts/{id}/balances/{day}", { params: { path: { id, day } }, body: { current } }));

/** Asks the bank for the account's current balance. The bank's provider may charge for this. */
export const refreshBalance = (id: string) =>
  answer(api.POST("/api/v1/accounts/{id}/refresh-balance", { params: { path: { id }, header: once() } }));

/** Removes a balance that a person entered. */
export const removeBalance = (id: string, day: string) =>
  recorded(api.DELETE("/api/v1/accounts/{id}/balances/{day}", { params: { path: { id, day } } }));

export const patchAccount = (id: string, body: Schemas["PatchAccount"]) =>
  recorded(api.PATCH("/api/v1/accounts/{id}", { params: { path: { id } }, body }));

/** Adds an account that is not connected to a bank. */
export const createAccount = (body: Schemas["CreateAccount"]) => recorded(api.POST("/api/v1/accounts", { body }));

/** Removes an account with all its transactions. A dry run only returns how many there are. */
export async function removeAccount(id: string, dry_run: boolean): Promise<Schemas["AccountRemoved"]> {
  const j = await answer(api.POST("/api/v1/accounts/{id}/remove", { params: { path: { id } }, body: { dry_run } }));
  return ended(await jobEnd(j.id), t`Couldn’t delete this account`);
}

/** Merges an account into another. A dry run only returns what a merge would do to its transactions. */
export async function mergeAccount(id: string, into: string, dry_run: boolean): Promise<Schemas["AccountMerged"]> {
  const body = { into, dry_run };
  const j = await answer(api.POST("/api/v1/accounts/{id}/merge", { params: { path: { id } }, body }));
  return ended(await jobEnd(j.id), t`Couldn’t merge these accounts`);
}

/** Returns the result of a job, or throws an error if the job failed. */
function ended<R>(j: Job, failed: string): R {
  if (j.state !== "succeeded") throw new Error(j.error?.message ?? failed);
  return j.result as R;
}

export const accountName = (a: Pick<Account, "display_name" | "name">) => a.display_name ?? a.name;

/** Whether the balance of an account of this type is a debt. */
export const owed = (type: string) => type === "credit" || type === "loan";

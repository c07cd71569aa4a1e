import { t } from "@lingui/core/macro";
import { queryOptions } from "@tanstack/react-query";
import { rowFields } from "#/lib/early";
import { recorded } from "./changes";
import { answer, api, once, type Schemas, staleAfter } from "./client";

/** The filters of a list; each of them is in the page's address. */
export type Filters = {
  search?: string;
  category?: string[];
  category_source?: "rule" | "user" | "agent" | "provider";
  counterparty_id?: string;
  payee?: string;
  similar_to?: string;
  recurring_id?: string;
  held?: boolean;
  has_comments?: boolean;
  transfer?: boolean;
  pending?: boolean;
  ids?: string[];
  account_id?: string[];
  user_id?: string;
  tags?: string[];
  any_tag?: string[];
  amount?: string;
  excluded?: boolean;
  excluded_reason?: "reimbursed" | "duplicate" | "other" | "any" | "none";
  origin?: "manual" | "part";
  direction?: "in" | "out";
  uncategorized?: boolean;
  start_date?: string;
  end_date?: string;
};

export type Transaction = Schemas["Transaction"];
/** One transaction, with its parts if it is split. */
export type Detail = Schemas["TransactionDetail"];
export type Operation = Schemas["TransactionOperation"];

type Named<S> = S extends `${infer One},${infer More}` ? One | Named<More> : S;

/** A line of a list: the fields that the list requests. */
export type Row = Pick<Transaction, "id" | "short_id" | Named<typeof rowFields>>;

/** The payee's name: the name that a person gave it, else the one from the bank's text, which can be empty. */
export const payee = (r: { payee_name: string }) => r.payee_name || t`No description`;

type Page = { transactions: Row[]; next_cursor: string; has_more: boolean };

const page = (query: Filters, cursor: string, limit: number, signal: AbortSignal) =>
  answer(
    api.GET("/api/v1/transactions", {
      params: { query: { ...query, fields: rowFields, limit, ...(cursor ? { cursor } : {}) } },
      signal,
    }),
  ) as Promise<Page>;

/** All rows between two days. The list loads rows, and later drops them, in such blocks. */
export const rows = (filters: Filters, start_date: string, end_date: string) =>
  queryOptions({
    queryKey: ["transactions", "rows", filters, start_date, end_date],
    queryFn: async ({ signal }) => {
      const out: Row[] = [];
      for (let cursor = "", more = true; more; ) {
        const p = await page({ ...filters, start_date, end_date }, cursor, 500, signal);
        out.push(...p.transactions);
        cursor = p.next_cursor;
        more = p.has_more;
      }
      return out;
    },
    staleTime: 5 * staleAfter.minute,
    gcTime: 2 * staleAfter.minute,
  });

/** The newest rows of a list, for a screen that shows only a few. */
export const newest = (filters: Filters, limit: number) =>
  queryOptions({
    queryKey: ["transactions", "newest", filters, limit],
    queryFn: ({ signal }) => page(filters, "", limit, signal),
    staleTime: staleAfter.short,
  });

/**
 * The newest rows of a list. They are requested together with the months, so that the list appears after one round
 * trip.
 */
export const head = (filters: Filters) =>
  queryOptions({
    queryKey: ["transactions", "rows", filters, "head"],
    queryFn: async ({ signal }) => (await page(filters, "", 80, signal)).transactions,
    staleTime: 5 * staleAfter.minute,
    gcTime: 2 * staleAfter.minute,
  });

export type Period = Schemas["TransactionPeriod"];

/** The months of a list, each with the number of its rows. */
export const months = (query: Filters) =>
  queryOptions({
    queryKey: ["transactions", "months", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/transactions/timeline", { params: { query }, signal })),
    staleTime: staleAfter.minute,
  });

/** How many transactions a list has. */
export const countOf = (query: Filters) =>
  queryOptions({
    queryKey: ["transactions", "count", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/transactions/count", { params: { query }, signal })),
    staleTime: staleAfter.minute,
  });

/** The days of a part of a list, each with the number of its rows. */
export const days = (filters: Filters, start_date: string, end_date: string) =>
  queryOptions({
    queryKey: ["transactions", "days", filters, start_date, end_date],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/transactions/timeline", {
          params: { query: { ...filters, start_date, end_date, by: "day" } },
          signal,
        }),
      ),
    staleTime: staleAfter.minute,
  });

/** The number of rows of a list and the names of some, to describe what a change would affect. */
export async function someOf(query: Filters, limit: number): Promise<{ count: number; names: string[] }> {
  const [rows, all] = await Promise.all([
    page(query, "", limit, new AbortController().signal),
    answer(api.GET("/api/v1/transactions/count", { params: { query } })),
  ]);
  return { count: all.count, names: rows.transactions.map(payee) };
}

/** Adds a transaction manually. */
export const createPayment = (body: Schemas["AddTransaction"]) =>
  recorded(api.POST("/api/v1/transactions", { headers: once(), body }));

/** Edits a transaction that was added manually. */
export const correct = (transaction_id: string, body: Schemas["PatchTransaction"]) =>
  recorded(api.PATCH("/api/v1/transactions/{transaction_id}", { params: { path: { transaction_id } }, body }));

/** Matches a manually added transaction with the bank's record of the same payment; null removes the match. */
export const match = (id: string, transaction_id: string | null) =>
  recorded(api.PUT("/api/v1/transactions/{id}/match", { params: { path: { id } }, body: { transaction_id } }));

/** The address that exports the rows of a list as a file. */
export function exportOf(filters: Filters): string {
  const query = new URLSearchParams({ format: "csv" });
  for (const [name, value] of Object.entries(filters))
    for (const v of Array.isArray(value) ? value : [value]) query.append(name, String(v));
  return `/api/v1/transactions/export?${query}`;
}

export type Group = Schemas["TransactionSummaryGroup"];
type SummaryQuery = Filters & {
  group_by: ("category" | "primary_category" | "month" | "day" | "tag" | "counterparty" | "payee" | "account")[];
  include?: ("transfers" | "excluded" | "hidden")[];
};
export type Pivot = Schemas["TransactionSummaryPivot"];
type TableQuery = SummaryQuery & {
  pivot: true;
  measure: "out" | "net";
  side?: "spending" | "income";
  limit: number;
};

export const summary = (query: SummaryQuery) =>
  queryOptions({
    queryKey: ["transactions", "summary", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/transactions/summary", { params: { query }, signal })),
    staleTime: staleAfter.minute,
  });

/** Totals as a pivot table. */
export const table = (query: TableQuery) => summary(query);

const at = (transaction_id: string) => ({ params: { path: { transaction_id } } });

export const transaction = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "one", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}", at(id))),
    staleTime: staleAfter.short,
  });

export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "explanation", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}/explain", at(id))),
    staleTime: staleAfter.short,
  });

export const history = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "history", id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/transactions/{transaction_id}/annotations", {
          params: { path: { transaction_id: id }, query: { limit: 100 } },
        }),
      ),
    staleTime: staleAfter.short,
  });

export const comments = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "comments", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}/comments", at(id))),
    staleTime: staleAfter.short,
  });

/** Runs operations on single transactions. The change that they make together can be undone. */
export const update = (operations: Operation[]) =>
  answer(
    api.POST("/api/v1/transactions/update", { params: { header: once() }, body: { operations, on_error: "continue" } }),
  );

/** The most operations that one update takes. */
export const maxOperations = 50;

export type BulkSet = Schemas["TransactionBulkSet"];
export type BulkBody = Schemas["BulkTransactions"];
export type BulkResult = Schemas["TransactionBulk"];

/** Changes selected transactions, or all that match a filter, as one change. A dry run returns what it would change. */
export const bulk = (body: BulkBody) =>
  answer(api.POST("/api/v1/transactions/bulk", { params: { header: body.dry_run ? {} : once() }, body }));

/** The most transactions that a person can select one by one for a bulk change. */
export const maxSelected = 500;

export const split = ({ id, parts }: { id: string; parts: Schemas["TransactionSplitPart"][] }) =>
  recorded(api.PUT("/api/v1/transactions/{transaction_id}/split", { ...at(id), body: { parts } }));
export const join = (id: string) => recorded(api.DELETE("/api/v1/transactions/{transaction_id}/split", at(id)));

export const remove = (id: string) => answer(api.DELETE("/api/v1/transactions/{transaction_id}", at(id)));
export const restore = (id: string) => answer(api.POST("/api/v1/transactions/{transaction_id}/restore", at(id)));

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api, fresh, once, type Schemas } from "./client";

/** What narrows a list; each is part of the address. */
export type Filters = {
  search?: string;
  category?: string;
  account_id?: string[];
  tags?: string[];
  direction?: "in" | "out";
  uncategorized?: boolean;
  start_date?: string;
  end_date?: string;
};

export type Transaction = Schemas["Transaction"];
export type Operation = Schemas["Operation"];

const fields = [
  "date",
  "amount",
  "iso_currency_code",
  "name",
  "merchant_name",
  "category",
  "category_display_name",
  "category_source",
  "account_name",
  "tags",
  "pending",
  "counterparty_name",
  "comment_count",
  "excluded",
  "linked_transaction_id",
] as const;

/** A line of a list: the fields that it asks for. */
export type Row = Pick<Transaction, "id" | "short_id" | (typeof fields)[number]>;

/** Who the money went to or came from, as well as it is known. */
export const payee = (r: Pick<Row, "counterparty_name" | "merchant_name" | "name">) =>
  r.counterparty_name ?? r.merchant_name ?? r.name;

type Page = { transactions: Row[]; next_cursor: string; has_more: boolean };

const page = (query: Filters, cursor: string, limit: number, signal: AbortSignal) =>
  answer(
    api.GET("/api/v1/transactions", {
      params: { query: { ...query, fields: fields.join(","), limit, ...(cursor ? { cursor } : {}) } },
      signal,
    }),
  ) as Promise<Page>;

/** All rows of some days: a month is the unit in which the list is loaded and forgotten. */
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
    staleTime: 5 * fresh.minute,
    gcTime: 2 * fresh.minute,
  });

/** What waits for a person, newest first. */
export const waiting = infiniteQueryOptions({
  queryKey: ["transactions", "waiting"],
  queryFn: ({ pageParam, signal }) => page({ tags: ["needs-review"] }, pageParam, 200, signal),
  initialPageParam: "",
  getNextPageParam: (last) => last.next_cursor || undefined,
  staleTime: fresh.short,
});

export type Group = Schemas["Group"];
type SummaryQuery = Filters & {
  group_by: ("category" | "primary_category" | "month" | "day")[];
  include?: ("transfers" | "excluded" | "hidden")[];
};

export const summary = (query: SummaryQuery) =>
  queryOptions({
    queryKey: ["transactions", "summary", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/transactions/summary", { params: { query }, signal })),
    staleTime: fresh.minute,
  });

const at = (transaction_id: string) => ({ params: { path: { transaction_id } } });

export const transaction = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "one", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}", at(id))),
    staleTime: fresh.short,
  });

export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "explanation", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}/explain", at(id))),
    staleTime: fresh.short,
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
    staleTime: fresh.short,
  });

export const comments = (id: string) =>
  queryOptions({
    queryKey: ["transactions", "comments", id],
    queryFn: () => answer(api.GET("/api/v1/transactions/{transaction_id}/comments", at(id))),
    staleTime: fresh.short,
  });

/** The one way to change transactions; what it did can be undone by its change. */
export const update = (operations: Operation[]) =>
  answer(
    api.POST("/api/v1/transactions/update", { params: { header: once() }, body: { operations, on_error: "continue" } }),
  );

/** The most that one update takes. */
export const most = 50;

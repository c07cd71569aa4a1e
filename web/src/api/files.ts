import { queryOptions } from "@tanstack/react-query";
import { filesProvider } from "#/lib/provider";
import { answer, api, once, type Schemas } from "./client";

export type FilePreview = Schemas["FilePreview"];
export type FileOptions = Schemas["FileOptions"];
export type FileAccount = Schemas["FileAccount"];

/** What becomes of one of the accounts of a file. */
export type AccountChoice = Schemas["FileAccountChoice"];

/** Which column holds which field, by its index from 0. */
export type Mapping = Record<string, number>;

/** The result of an import's job. */
export type Imported = Schemas["FileImported"];

/** Options of a file as a query: each value of a list by itself, objects as JSON. */
export const fileQuery = (q: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(q)
      .flatMap(([k, v]) => (Array.isArray(v) ? v : [v]).map((one: unknown) => [k, one] as const))
      .filter(([, v]) => v !== undefined && v !== "")
      .map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
  ).toString();

// The file is sent as it is, because only the server knows its encoding. Known options are in the query.
const asFile = {
  headers: { "Content-Type": "text/csv" },
  bodySerializer: (f: unknown) => f as Blob,
  querySerializer: fileQuery,
};

/** How a file would be read. It is known by its name and its time, so that each is read once. */
export const preview = (file: File, options: FileOptions, account_id: string | undefined, choices?: AccountChoice[]) =>
  queryOptions({
    queryKey: ["files", file.name, file.size, file.lastModified, options, account_id, choices],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/v1/connections/csv/preview", {
          params: { query: { ...options, account_id, accounts: choices } },
          body: file as unknown as string,
          signal,
          ...asFile,
        }),
      ),
    gcTime: 60_000,
    staleTime: 60_000,
    retry: false,
  });

export const importFile = (
  connection: string,
  file: File,
  options: FileOptions,
  into: {
    account_id?: string;
    account?: FileAccount;
    accounts?: AccountChoice[];
    include_likely_duplicates?: boolean;
  },
) =>
  answer(
    api.POST("/api/v1/connections/{id}/csv/import", {
      params: { path: { id: connection }, query: { ...options, ...into, file_name: file.name }, header: once() },
      body: file as unknown as string,
      ...asFile,
    }),
  );

/** A place for the files of one bank. */
export const createFileConnection = (institution_name: string) =>
  answer(
    api.POST("/api/v1/connections", {
      params: { header: once() },
      body: { provider: filesProvider, institution_name },
    }),
  );

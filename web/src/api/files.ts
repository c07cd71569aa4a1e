import { queryOptions } from "@tanstack/react-query";
import { filesProvider } from "#/lib/provider";
import { answer, api, once, type Schemas } from "./client";

export type FilePreview = Schemas["FilePreview"];
export type FileOptions = Schemas["FileOptions"];
export type FileAccount = Schemas["FileAccount"];

/** The decision about one account in a file: import it into an account, create one for it, or skip it. */
export type AccountChoice = Schemas["FileAccountChoice"];

/** The column of each field, by its index from 0. */
export type Mapping = Record<string, number>;

/** The result of an import's job. */
export type Imported = Schemas["FileImported"];

/** The options of a file as a query string. Each value of a list is a parameter of its own; objects are JSON. */
export const fileQuery = (q: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(q)
      .flatMap(([k, v]) => (Array.isArray(v) ? v : [v]).map((one: unknown) => [k, one] as const))
      .filter(([, v]) => v !== undefined && v !== "")
      .map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
  ).toString();

// The file is sent byte for byte, because only the server detects its encoding. The options are in the query.
const asFile = {
  headers: { "Content-Type": "text/csv" },
  bodySerializer: (f: unknown) => f as Blob,
  querySerializer: fileQuery,
};

/** How the server would read a file. Name, size and time are part of the key, so the same file is not sent twice. */
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

/** Creates the connection for the files of one bank. */
export const createFileConnection = (institution_name: string) =>
  answer(
    api.POST("/api/v1/connections", {
      params: { header: once() },
      body: { provider: filesProvider, institution_name },
    }),
  );

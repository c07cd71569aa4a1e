import type { FilePreview } from "#/api/files";

/** Files of one bank have the same columns, so this browser keeps into which account such a file went. */
const accountKey = (columns: string) => ["file", columns].join(" ");
const jobKey = (job: string) => `file-of:${job}`;

/**
 * The heads of the columns in one line, and the end of the account's number if the file has it, because a bank's
 * accounts share their columns. Empty if the file has no heads, because then any other looks the same.
 */
export const columnsOf = (p: Pick<FilePreview, "columns" | "header_row" | "mask"> | undefined) =>
  p && p.header_row !== null ? [...p.columns.map((c) => c.name), ...(p.mask ? [p.mask] : [])].join(" ") : "";

export const wentInto = (columns: string) => (columns ? localStorage.getItem(accountKey(columns)) : null);

/** A new account gets its id while the import runs, so the columns wait with its job. */
export const began = (job: string, columns: string) => columns && sessionStorage.setItem(jobKey(job), columns);

export function went(job: string, account: string) {
  const columns = sessionStorage.getItem(jobKey(job));
  if (columns) localStorage.setItem(accountKey(columns), account);
}

import type { FilePreview } from "#/api/files";

/**
 * Key of the account into which a file with these columns was last imported. Files of one bank have the same columns.
 */
const accountKey = (columns: string) => ["file", columns].join(" ");
const jobKey = (job: string) => `file-of:${job}`;

/**
 * The names of the columns in one line, with the end of the account number if the file has one, because all accounts of
 * a bank have the same columns. Empty if the file names no columns, because then it cannot be recognized.
 */
export const columnsOf = (p: Pick<FilePreview, "columns" | "header_row" | "mask"> | undefined) =>
  p && p.header_row !== null ? [...p.columns.map((c) => c.name), ...(p.mask ? [p.mask] : [])].join(" ") : "";

export const wentInto = (columns: string) => (columns ? localStorage.getItem(accountKey(columns)) : null);

/** Stores the columns with the import's job, because a new account gets its id only while the import runs. */
export const began = (job: string, columns: string) => columns && sessionStorage.setItem(jobKey(job), columns);

export function went(job: string, account: string) {
  const columns = sessionStorage.getItem(jobKey(job));
  if (columns) localStorage.setItem(accountKey(columns), account);
}

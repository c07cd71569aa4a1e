/** Folders and files of src whose texts are not in the catalogue yet. Never add one; only remove them. */
export const pending: readonly string[] = [];

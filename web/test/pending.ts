/** Folders and files of src whose texts are not in the catalogue yet. Lines are only removed. */
export const pending: readonly string[] = [];

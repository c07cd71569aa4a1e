/** The kinds of cached data that a new balance changes. */
export const touched = ["accounts", "overview", "changes"] as const;

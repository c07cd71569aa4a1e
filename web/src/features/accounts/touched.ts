/** The nouns that a balance shows in. */
export const touched = ["accounts", "overview", "changes"] as const;

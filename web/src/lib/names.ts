/** Shortens a name so that it fits in a title or a button. */
export const shortName = (name: string, limit = 40) => {
  const letters = [...name];
  return letters.length > limit
    ? `${letters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`
    : name;
};

/** A name that fits into a title or a button; people and programs may choose longer ones. */
export const shortName = (name: string, limit = 40) => {
  const letters = [...name];
  return letters.length > limit
    ? `${letters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`
    : name;
};

/** A name that fits into a title or a button; people and programs may choose longer ones. */
export const shortName = (name: string, most = 40) => {
  const letters = [...name];
  return letters.length > most
    ? `${letters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`
    : name;
};

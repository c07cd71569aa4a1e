// The pseudo-language en-XA: English that is 40 % longer, with accents and in brackets. It shows where a
// translation would not fit, and which words are in no catalogue. The app does not ship it.
const accents = Object.fromEntries([..."aceginosuyACEGINOSUY"].map((c, i) => [c, [..."åçéğîñöšûýÅÇÉĞÎÑÖŠÛÝ"][i]]));

/** Letters of a text, but not those of the places of elements, such as <0>. */
const accented = (s) => s.replace(/<\/?\d+\/?>|[A-Za-z]/g, (c) => accents[c] ?? c);

const lettersOf = (m) => {
  if (typeof m === "string") return m.replace(/<\/?\d+\/?>|[^\p{L}]/gu, "").length;
  if (!Array.isArray(m)) return 0;
  return m.reduce((n, x) => n + (typeof x === "string" ? lettersOf(x) : lettersOf(x[2]?.other)), 0);
};

/** The parts of a compiled message: texts, and arguments with the texts that depend on them. */
const parts = (m) =>
  m.map((x) => {
    if (typeof x === "string") return accented(x);
    const [name, kind, cases] = x;
    if (!cases || typeof cases !== "object") return x;
    const each = ([k, v]) => [k, Array.isArray(v) ? parts(v) : typeof v === "string" ? accented(v) : v];
    return [name, kind, Object.fromEntries(Object.entries(cases).map(each))];
  });

/** A catalogue as the app loads it, in en-XA. */
export const pseudo = (texts) =>
  Object.fromEntries(
    Object.entries(texts).map(([id, m]) => [id, ["⟦", ...parts([m].flat(1)), "~".repeat(Math.ceil(lettersOf(m) * 0.4)), "⟧"]]),
  );

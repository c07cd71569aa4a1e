import { transformSync } from "@babel/core";
import extractor from "@lingui/babel-plugin-extract-messages";
import macro from "@lingui/babel-plugin-lingui-macro";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";

/** A message of the catalogue: its text, its translation, and the files that use it. */
export type Entry = {
  message?: string;
  translation?: string;
  context?: string;
  comments?: string[];
  origin?: [string, number?][];
  placeholders?: Record<string, string[]>;
};
export type Catalogue = Record<string, Entry>;

/** Whether a file uses a macro. Other files are not parsed, because parsing takes most of the time of a build. */
export const hasMacro = /from "@lingui\/(core|react)\/macro"/;

const po = formatter({ lineNumbers: false, customHeaderAttributes: { "POT-Creation-Date": "" } });
const config = {
  macro: { corePackage: ["@lingui/core/macro"], jsxPackage: ["@lingui/react/macro"] },
  runtimeConfigModule: {
    i18n: ["@lingui/core", "i18n"],
    Trans: ["@lingui/react", "Trans"],
    useLingui: ["@lingui/react", "useLingui"],
  },
  jsxPlaceholderAttribute: undefined,
  jsxPlaceholderDefaults: undefined,
};

function babel(code: string, filename: string, plugins: object[], sourceMaps = false) {
  const parserOpts = { plugins: ["typescript", ...(filename.endsWith("x") ? ["jsx"] : [])] };
  // biome-ignore lint/suspicious/noExplicitAny: the types of the two packages are of two versions of Babel
  const options: any = { filename, babelrc: false, configFile: false, sourceMaps, parserOpts, plugins };
  const done = transformSync(code, options);
  if (typeof done?.code !== "string") throw new Error(`${filename}: no code`);
  return { code: done.code, map: done.map };
}

// Babel prepares a plugin once for each options object, so these objects are shared.
const shipped = [macro, { descriptorFields: "id-only", linguiConfig: config }];
const whole = [macro, { descriptorFields: "all", linguiConfig: config }];

/**
 * Short names for messages in the shipped code: their positions in the catalogue. Hashes would cost 9 bytes each,
 * compressed.
 */
export const shorten = (c: Catalogue): Map<string, string> =>
  new Map(Object.keys(c).map((id, i) => [id, i.toString(36)]));

/** Replaces macros with calls of the library. With short names, the texts themselves are left out of the code. */
export function expand(code: string, file: string, names?: Map<string, string>) {
  if (!names) return babel(code, file, [whole], true);
  const out = babel(code, file, [shipped]).code.replace(/(\/\*\* i18n \*\/\s*\{\s*id: )"([^"]+)"/g, (_, start, id) => {
    const name = names.get(id);
    if (!name) throw new Error(`${file} has a message that is not in the catalogue; run npm run extract`);
    return `${start}"${name}"`;
  });
  return { code: out, map: null };
}

/** Extracts the messages of sources, sorted by path and then by line. */
export function extract(sources: Record<string, string>): Catalogue {
  const all: Catalogue = {};
  for (const path of Object.keys(sources).sort()) {
    const code = sources[path] as string;
    if (!hasMacro.test(code)) continue;
    const found: (Entry & { id: string; line: number; comment?: string; placeholders: Record<string, string> })[] = [];
    const onMessageExtracted = (m: (typeof found)[number] & { origin: [string, number] }) =>
      found.push({ ...m, line: m.origin[1] });
    babel(code, path, [whole, [extractor, { onMessageExtracted, linguiConfig: config }]]);
    for (const m of found.sort((a, b) => a.line - b.line)) {
      all[m.id] ??= { message: m.message, context: m.context, translation: "", comments: [], origin: [] };
      const one = all[m.id] as Entry;
      if (m.comment && !one.comments?.includes(m.comment)) one.comments?.push(m.comment);
      if (!one.origin?.some(([p]) => p === path)) one.origin?.push([path]);
      for (const [name, value] of Object.entries(m.placeholders)) {
        if (!/^\d+$/.test(name)) continue;
        one.placeholders ??= {};
        one.placeholders[name] ??= [];
        if (!one.placeholders[name].includes(value)) one.placeholders[name].push(value);
      }
    }
  }
  return all;
}

/** The text of a catalogue file: the messages, with the translations from the previous version. */
export function write(messages: Catalogue, locale: string, before: Catalogue = {}): string {
  const rows = Object.entries(messages).map(([id, m]) => {
    const translation = locale === "en" ? m.message : before[id]?.translation;
    return [id, { ...m, translation: translation ?? "" }];
  });
  const ctx = { locale, sourceLocale: "en", filename: `${locale}.po`, existing: undefined };
  const text = po.serialize(Object.fromEntries(rows), ctx as never) as string;
  return text.replace(/^"POT-Creation-Date:.*\n/m, "");
}

export const read = (text: string, locale: string): Catalogue =>
  po.parse(text, { locale, sourceLocale: "en", filename: `${locale}.po` }) as Catalogue;

type Token = string | [name: string, kind?: string, cases?: Record<string, unknown>];

/**
 * The parts that a translation must keep: the names and kinds of a message's arguments, and the tags of its elements.
 */
export function argumentsOf(text: string): string[] {
  const found = new Set<string>();
  const walk = (tokens: unknown) => {
    for (const t of [tokens].flat() as Token[]) {
      if (typeof t === "string") for (const tag of t.match(/<\/?\d+\/?>/g) ?? []) found.add(tag);
      else if (Array.isArray(t)) {
        found.add(t.slice(0, 2).join(" "));
        if (t[2] && typeof t[2] === "object") for (const c of Object.values(t[2])) walk(c);
      }
    }
  };
  const compiled = compileMessage(text);
  walk(typeof compiled === "string" ? [compiled] : compiled);
  return [...found].sort();
}

/** The part whose texts load with the app itself, not with a screen. */
export const base = "base";

/**
 * The folder of the page /add, which is built separately. It loads nothing of the app, so its texts form a part of
 * their own.
 */
export const apart = "add";

/** The context of search words, by which people look for screens. They load when the search opens. */
const searched = "search words";

/**
 * The parts with which a message loads. If code outside the screens or more than three screens use the message, it is
 * the app's own part, else the parts of these screens.
 */
export function partsOf(m: Entry): string[] {
  if (m.context === searched) return ["palette"];
  const parts = new Set((m.origin ?? []).map(([path]) => /^src\/features\/(\w+)\//.exec(path)?.[1] ?? base));
  const own = parts.delete(apart) ? [apart] : [];
  if (own.length && parts.size === 0) return own;
  return [...own, ...(parts.has(base) || parts.size > 3 || parts.size === 0 ? [base] : parts)];
}

/**
 * A catalogue as the app loads it: divided into parts, and compiled, so that the browser does not have to parse
 * messages.
 */
export function compiled(c: Catalogue, names?: Map<string, string>): Record<string, Record<string, unknown>> {
  const out: Record<string, Record<string, unknown>> = { [base]: {} };
  for (const [id, m] of Object.entries(c)) {
    const text = m.translation || m.message;
    if (text === undefined) continue;
    for (const part of partsOf(m)) {
      out[part] ??= {};
      out[part][names?.get(id) ?? id] = compileMessage(text);
    }
  }
  return out;
}

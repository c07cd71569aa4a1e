import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { apart, compiled, expand, hasMacro, read, shorten } from "./catalogue.ts";

// Builds the texts of the app. Macros in the code become calls, and src/messages/*.po become one small file for each
// language and part of the app. `virtual:messages` exports functions that load these files, or those of `only`.
export function messages(only?: string): Plugin {
  const dir = `${import.meta.dirname}/src/messages`;
  let names: Map<string, string> | undefined;
  const po = (language: string) => read(readFileSync(`${dir}/${language}.po`, "utf8"), language);
  const catalogue = (language: string) => compiled(po(language), names);
  return {
    name: "messages",
    enforce: "pre",
    configResolved(c) {
      if (c.command === "build") names = shorten(po("en"));
    },
    resolveId: { filter: { id: /^virtual:messages/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:messages/ },
      handler(id) {
        const [, language, part] = id.split("/");
        if (language && part) {
          this.addWatchFile(`${dir}/${language}.po`);
          return `export default JSON.parse(${JSON.stringify(JSON.stringify(catalogue(language)[part]))})`;
        }
        const languages = readdirSync(dir).flatMap((f) => (f.endsWith(".po") ? [f.slice(0, -3)] : []));
        const loaders = (l: string) =>
          Object.keys(catalogue(l))
            .filter((p) => (only ? p === only : p !== apart))
            .map((p) => `${JSON.stringify(p)}: () => import("virtual:messages/${l}/${p}")`);
        return `export default {${languages.map((l) => `${JSON.stringify(l)}: {${loaders(l)}}`)}}`;
      },
    },
    transform: {
      filter: { id: /\/src\/.*\.tsx?$/, code: hasMacro },
      handler: (code, id) => expand(code, id, names),
    },
  };
}

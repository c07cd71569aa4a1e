import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { apart } from "./catalogue.ts";
import { messages } from "./messages.ts";

const out = `${import.meta.dirname}/../internal/surface/web/dist/app`;

// Writes the service worker. It lists the files of this build to store, so that the worker can delete older ones.
const worker: Plugin = {
  name: "worker",
  closeBundle() {
    const page = (name: string) =>
      [...readFileSync(`${out}/${name}`, "utf8").matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((m) => m[1]);
    const all = readdirSync(`${out}/assets`)
      .sort()
      .map((f) => `/assets/${f}`);
    const texts = all.filter((f) => f.includes(`-${apart}-`));
    const first = new Set([
      "/add",
      ...page("add.html"),
      ...page("index.html").filter((f) => f?.startsWith("/assets/")),
    ]);
    const code = readFileSync(`${import.meta.dirname}/worker.js`, "utf8")
      .replace("__FIRST__", JSON.stringify([...first, ...texts]))
      .replace("__ALL__", JSON.stringify(all));
    writeFileSync(`${out}/sw.js`, code);
  },
};

// The page /add is built separately. It has no framework and shares no file with the app, so that it opens at once on a
// phone. This build runs after the app's build and adds to the same folder.
export default defineConfig({
  plugins: [messages(apart), worker],
  publicDir: false,
  resolve: { alias: { "#": `${import.meta.dirname}/src` } },
  build: {
    outDir: out,
    emptyOutDir: false,
    target: "baseline-widely-available",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/add.html`,
      checks: { bundlerTimings: false },
      output: {
        entryFileNames: "assets/add-[hash].js",
        assetFileNames: "assets/add-[hash][extname]",
        chunkFileNames: ({ facadeModuleId: id }) =>
          id?.startsWith("\0virtual:messages/")
            ? `assets/texts-${id.split("/").slice(1).join("-")}-[hash].js`
            : "assets/add-[hash].js",
      },
    },
  },
});

/// <reference types="vitest/config" />
import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { messages } from "./messages.ts";

// Where a server runs that `npm run dev` passes the API's calls to.
const server = "http://127.0.0.1:8080";

// The page's first script asks for data and loads the app. Naming the app's own files in the page lets the browser
// fetch them beside that script. A modulepreload would compile them too, and that before the small script runs.
const ahead: Plugin = {
  name: "ahead",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((f) => f.type === "chunk");
      const app = chunks.find((c) => c.facadeModuleId?.endsWith("/src/app/App.tsx"));
      const needed = new Set(app ? [app.fileName] : []);
      for (const name of needed) for (const i of chunks.find((c) => c.fileName === name)?.imports ?? []) needed.add(i);
      for (const c of chunks.filter((x) => x.isEntry)) for (const n of [c.fileName, ...c.imports]) needed.delete(n);
      return [...needed].map((name) => ({
        tag: "link",
        attrs: { rel: "preload", as: "script", crossorigin: true, href: `/${name}` },
        injectTo: "head",
      }));
    },
  },
};

// The typeface: the file for most text is fetched beside the scripts, and its license lies with it.
const typeface: Plugin = {
  name: "typeface",
  generateBundle() {
    const license = `${import.meta.dirname}/node_modules/@fontsource-variable/inter/LICENSE`;
    this.emitFile({ type: "asset", name: "inter-license.txt", source: readFileSync(license, "utf8") });
  },
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const font = Object.keys(bundle).find((name) => /inter-latin-wght-.*\.woff2$/.test(name));
      if (!font) return [];
      const attrs = { rel: "preload", as: "font", type: "font/woff2", crossorigin: true, href: `/${font}` };
      return [{ tag: "link", attrs, injectTo: "head" }];
    },
  },
};

// Everything that the page loads is a file of its own with a hash in its name: no inline script, no
// inline style, no data: URL. The server's policy allows nothing else.
export default defineConfig({
  plugins: [messages(), react(), ahead, typeface],
  resolve: { alias: { "#": `${import.meta.dirname}/src` } },
  build: {
    outDir: "../internal/surface/web/dist/app",
    emptyOutDir: true,
    target: "baseline-widely-available",
    assetsInlineLimit: 0,
    cssCodeSplit: false, // one file: a third smaller than one for each screen, because it is packed together
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { bundlerTimings: false }, // most of a build is the texts; that is known
      output: {
        chunkFileNames: ({ facadeModuleId: id }) =>
          id?.startsWith("\0virtual:messages/")
            ? `assets/texts-${id.split("/").slice(1).join("-")}-[hash].js`
            : "assets/[name]-[hash].js",
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
            // Modules that several screens share are one file: twenty small ones cost more than they save. The modules
            // of the first script are separate, so it waits for nothing else.
            {
              name: "early",
              test: /src[\\/](lib[\\/](address|early|days|language)|app[\\/](early|screens))\.ts$/,
              priority: 2,
            },
            { name: "icons", test: /src[\\/]ui[\\/]icons\.ts$/, priority: 2 },
            // Fields for amounts are left out of it: no first screen has one.
            {
              name: "parts",
              test: /src[\\/](lib|api|ui|parts)[\\/](?!typed|AmountField)/,
              minShareCount: 6,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  test: { setupFiles: ["./test/setup.ts"] },
  server: {
    host: "127.0.0.1",
    fs: { allow: [".."] }, // the tokens are the server's too
    proxy: Object.fromEntries(["/api", "/auth", "/login", "/account", "/static", "/logout"].map((p) => [p, server])),
  },
});

/// <reference types="vitest/config" />
import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { messages } from "./messages.ts";

// The server to which `npm run dev` forwards calls of the API.
const server = "http://127.0.0.1:8080";

// The page's first script requests data and loads the app. The plugin names the app's own files in the page, so that
// the browser fetches them in parallel with that script. With modulepreload, the browser would also compile them,
// before it runs the small script.
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

// Adds the typeface. The page fetches the file for most text in parallel with the scripts, and the license is placed
// beside it.
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

// Everything that the page loads is a file with a hash in its name. There is no inline script, no inline style and no
// data: URL, because the server's policy forbids them.
export default defineConfig({
  plugins: [messages(), react(), ahead, typeface],
  resolve: { alias: { "#": `${import.meta.dirname}/src` } },
  build: {
    outDir: "../internal/surface/web/dist/app",
    emptyOutDir: true,
    target: "baseline-widely-available",
    assetsInlineLimit: 0,
    cssCodeSplit: false, // one file compresses to a third less than one for each screen
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { bundlerTimings: false }, // it warns that messages take most of the time
      output: {
        chunkFileNames: ({ facadeModuleId: id }) =>
          id?.startsWith("\0virtual:messages/")
            ? `assets/texts-${id.split("/").slice(1).join("-")}-[hash].js`
            : "assets/[name]-[hash].js",
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
            // Modules that several screens share are in one file, because twenty small files would be slower. The
            // modules of the first script have their own file, so that it waits for nothing else.
            {
              name: "early",
              test: /src[\\/](lib[\\/](address|early|days|language)|app[\\/](early|screens))\.ts$/,
              priority: 2,
            },
            { name: "icons", test: /src[\\/]ui[\\/]icons\.ts$/, priority: 2 },
            // Fields for amounts are left out, because no first screen has one.
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
    fs: { allow: [".."] }, // the server and the app share the design tokens
    proxy: Object.fromEntries(["/api", "/auth", "/login", "/account", "/static", "/logout"].map((p) => [p, server])),
  },
});

import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

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

// Everything that the page loads is a file of its own with a hash in its name: no inline script, no
// inline style, no data: URL. The server's policy allows nothing else.
export default defineConfig({
  plugins: [react(), ahead],
  resolve: { alias: { "#": `${import.meta.dirname}/src` } },
  build: {
    outDir: "../internal/web/dist/app",
    emptyOutDir: true,
    target: "baseline-widely-available",
    assetsInlineLimit: 0,
    cssCodeSplit: false, // one file: a third smaller than one for each screen, because it is packed together
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
            // What several screens share is one file: twenty small ones cost more than they spare. What the first
            // script needs is apart, so that it waits for nothing else.
            { name: "early", test: /src[\\/](lib[\\/](early|dates)|app[\\/](early|pages))\.ts$/, priority: 2 },
            { name: "parts", test: /src[\\/](lib|api|ui|parts)[\\/]/, minShareCount: 4, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(["/api", "/auth", "/login", "/account", "/static", "/logout"].map((p) => [p, server])),
  },
});

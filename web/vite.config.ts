import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Where a server runs that `npm run dev` passes the API's calls to.
const server = "http://127.0.0.1:8080";

// Everything that the page loads is a file of its own with a hash in its name: no inline script, no
// inline style, no data: URL. The server's policy allows nothing else.
export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "#": `${import.meta.dirname}/src` } },
  build: {
    outDir: "../internal/web/dist/app",
    emptyOutDir: true,
    target: "baseline-widely-available",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
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

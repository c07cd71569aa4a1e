import { CSPProvider } from "@base-ui/react/csp-provider";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiError } from "#/api/client";
import { keepTexts, language } from "#/lib/language";
import { locale } from "#/lib/locale";
import { router } from "./routes";

const worthAgain = (e: unknown) => !(e instanceof ApiError) || e.status >= 500 || e.status === 429;

const client = new QueryClient({
  defaultOptions: { queries: { networkMode: "always", retry: (n, e) => n < 2 && worthAgain(e) } },
});

function App() {
  return (
    <I18nProvider i18n={i18n}>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </CSPProvider>
    </I18nProvider>
  );
}

/** Draws the app, once the texts that every screen shows are loaded. */
export function mount(root: Element) {
  document.documentElement.lang = language;
  i18n.loadAndActivate({ locale: language, locales: locale, messages: {} }); // plurals format numbers for the region
  keepTexts((m) => i18n.load(language, m));
  createRoot(root).render(<App />);
  void import("#/parts/reader").then((r) => r.followReader(client)).catch(() => {}); // the next page load tries again
}

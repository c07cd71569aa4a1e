import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiError } from "#/api/client";
import { router } from "./routes";

const worthAgain = (e: unknown) => !(e instanceof ApiError) || e.status >= 500 || e.status === 429;

const client = new QueryClient({
  defaultOptions: { queries: { networkMode: "always", retry: (n, e) => n < 2 && worthAgain(e) } },
});

function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  );
}

/** Draws the app. */
export const mount = (root: Element) => createRoot(root).render(<App />);

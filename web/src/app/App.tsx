import { CSPProvider } from "@base-ui/react/csp-provider";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ApiError } from "#/api/client";
import { router } from "./routes";

/** Whoever's session has ended signs in, and comes back to where they were. */
function leave(e: unknown) {
  if (e instanceof ApiError && e.signedOut)
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

const worthAgain = (e: unknown) => !(e instanceof ApiError) || e.status >= 500 || e.status === 429;

const client = new QueryClient({
  queryCache: new QueryCache({ onError: leave }),
  mutationCache: new MutationCache({ onError: leave }),
  defaultOptions: { queries: { retry: (n, e) => n < 2 && worthAgain(e) } },
});

export function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  );
}

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { localDay } from "#/lib/dates";
import { firstOf } from "./early";

const requests: string[] = [];

class Asked {
  method = "GET";
  constructor(readonly url: string) {}
}

beforeAll(() => {
  vi.stubGlobal("Request", Asked);
  vi.stubGlobal("location", { origin: "here:" });
  vi.stubGlobal("fetch", (r: Asked) => {
    requests.push(r.url);
    return new Promise(() => {});
  });
});
afterAll(() => vi.unstubAllGlobals());

/** The addresses that queries request when they run. */
async function ofQueries(...queries: { queryFn?: unknown }[]): Promise<string[]> {
  requests.length = 0;
  const context = { signal: new AbortController().signal, pageParam: "" };
  for (const q of queries) void (q.queryFn as (c: typeof context) => unknown)(context);
  await vi.waitFor(() => expect(requests).toHaveLength(queries.length));
  return requests.toSorted();
}

it("asks early for exactly what the first screens ask for", async () => {
  const [t, { session }, { pulse }, { overview }, { cashflow }] = await Promise.all([
    import("#/api/transactions"),
    import("#/api/session"),
    import("#/api/pulse"),
    import("#/api/overview"),
    import("#/api/cashflow"),
  ]);
  const [{ categories }, { accounts }, { views }, { reviewGroups }] = await Promise.all([
    import("#/api/categories"),
    import("#/api/accounts"),
    import("#/api/views"),
    import("#/api/review"),
  ]);
  const everywhere = [session, pulse, overview];
  const at = (path: string) => firstOf(path, "2026-11-16").toSorted();
  expect(at("/review")).toEqual(await ofQueries(...everywhere, reviewGroups, categories));
  expect(at("/transactions")).toEqual(
    await ofQueries(...everywhere, t.months({}), t.head({}), categories, accounts, views),
  );
  expect(at("/")).toEqual(
    await ofQueries(
      ...everywhere,
      t.summary({ group_by: ["day"], start_date: "2025-11-01", end_date: "2026-11-30" }),
      cashflow({ start_date: "2026-11-01", end_date: "2026-11-30", compare: "previous_period" }),
    ),
  );
  expect(firstOf("/rules", localDay(new Date()))).toHaveLength(everywhere.length);
});

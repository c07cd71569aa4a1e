import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";
import type { ProviderName } from "./settings";

export type BankProvider = Schemas["ProviderSpec"];
export type BankField = Schemas["ProviderSpecField"];
/** A provider that coffer calls over the network. */
export type RemoteProvider = BankProvider & { name: ProviderName };

/** The providers that the server supports, as they describe themselves. */
export const bankProviders = queryOptions({
  queryKey: ["settings", "bank-providers"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/providers", { signal })),
  staleTime: staleAfter.minute,
});

/** A provider's banks in a country that match a search. */
export const institutions = (provider: ProviderName, country: string, search: string) =>
  queryOptions({
    queryKey: ["institutions", provider, country, search],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/providers/{provider}/institutions", {
          params: { path: { provider }, query: { country, search, limit: 50 } },
          signal,
        }),
      ),
    enabled: country !== "",
    placeholderData: keepPreviousData,
    staleTime: staleAfter.minute,
  });

/** The providers that coffer calls over the network: all except files, which people upload. */
export const remote = (all: readonly BankProvider[]) => all.filter((p): p is RemoteProvider => p.kind !== "files");

/** The providers that need settings. The others work without any. */
export const settable = (all: readonly BankProvider[]) => remote(all).filter((p) => p.fields.length > 0);

/** Whether a provider reads banks in a region. */
export const covers = (p: BankProvider, region: string) => p.countries.length === 0 || p.countries.includes(region);

/** The providers through which a bank can be connected now: those that read banks in the region first. */
export const linkable = (all: readonly BankProvider[], region: string) => {
  const ready = remote(all).filter((p) => p.configured && p.link);
  return [...ready.filter((p) => covers(p, region)), ...ready.filter((p) => !covers(p, region))];
};

/** The providers to offer first: those that an admin has set up, and those that read banks in the region. */
export const fitting = (all: readonly BankProvider[], region: string) =>
  linkable(all, region).filter((p) => p.fields.length > 0 || covers(p, region));

import { infiniteQueryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Report = Schemas["Report"];

const page = 50;

/** Reports with their texts, newest first. */
export const reports = infiniteQueryOptions({
  queryKey: ["reports", "list"],
  queryFn: ({ pageParam, signal }) =>
    answer(
      api.GET("/api/v1/reports", {
        params: { query: { limit: page, ...(pageParam ? { before: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: "",
  getNextPageParam: (last) => (last.length === page ? last.at(-1)?.id : undefined),
  staleTime: staleAfter.minute,
});

const at = (id: string) => ({ params: { path: { id } } });

export const markRead = ({ id, read }: { id: string; read: boolean }): Promise<unknown> =>
  answer<unknown>(
    read ? api.PUT("/api/v1/reports/{id}/read", at(id)) : api.DELETE("/api/v1/reports/{id}/read", at(id)),
  );

export const deleteReport = (id: string) => answer(api.DELETE("/api/v1/reports/{id}", at(id)));

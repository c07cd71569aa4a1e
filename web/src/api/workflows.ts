import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Workflow = Schemas["Workflow"];
export type Run = Schemas["WorkflowRun"];
export type LastRun = Schemas["WorkflowLastRun"];
export type WorkflowRecord = Schemas["WorkflowRecord"];
export type WorkflowPatch = Schemas["PatchWorkflow"];

const at = (slug: string) => ({ path: { slug } });
const byId = (id: string) => ({ path: { id } });

/** Whether a run is under way. */
export const live = (r: { status: Run["status"] }) => r.status === "queued" || r.status === "running";

const often = 1500; // milliseconds between two requests while a run is under way

export const workflows = queryOptions({
  queryKey: ["workflows", "list"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/workflows", { signal }))).workflows,
  staleTime: staleAfter.short,
});

export const workflow = (slug: string) =>
  queryOptions({
    queryKey: ["workflows", "one", slug],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/workflows/{slug}", { params: at(slug), signal })),
    staleTime: staleAfter.short,
  });

/** The texts that several prompts share. */
export const promptBlocks = queryOptions({
  queryKey: ["workflows", "blocks"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/prompt-blocks", { signal }))).prompt_blocks,
  staleTime: staleAfter.minute,
});

export const changeWorkflow = (slug: string, body: WorkflowPatch) =>
  answer(api.PATCH("/api/v1/workflows/{slug}", { params: at(slug), body }));

/** Lets a workflow start by itself, or only when a person starts it. */
export const turnWorkflow = (slug: string, on: boolean) =>
  answer(
    on
      ? api.POST("/api/v1/workflows/{slug}/enable", { params: at(slug) })
      : api.POST("/api/v1/workflows/{slug}/disable", { params: at(slug) }),
  );

/** Starts a run; if one is under way, that one is returned. */
export const startWorkflow = (slug: string): Promise<Run> =>
  answer(api.POST("/api/v1/workflows/{slug}/run", { params: { ...at(slug), header: once() } }));

export type Evaluation = NonNullable<Run["result"]>;

/** Tests a workflow on transactions that people categorized before. It changes nothing. */
export const evalWorkflow = (slug: string, body: Schemas["WorkflowEval"]): Promise<Run> =>
  answer(api.POST("/api/v1/workflows/{slug}/eval", { params: { ...at(slug), header: once() }, body }));

/** Whether a workflow can be tested: it must set categories. */
export const measurable = (w: Pick<Workflow, "worklist" | "scope" | "tools">) =>
  w.worklist
    ? w.worklist.sets.includes("category")
    : w.scope === "full_access" && (w.tools.length === 0 || w.tools.includes("update_transactions"));

/** The runs of one workflow, newest first. */
export const runsOf = (slug: string) =>
  infiniteQueryOptions({
    queryKey: ["workflows", "runs", slug],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/workflows/{slug}/runs", {
          params: { ...at(slug), query: { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    staleTime: staleAfter.short,
    refetchInterval: (q) => (q.state.data?.pages[0]?.runs.some(live) ? often : false),
  });

/** The runs whose plans a person must decide about. */
export const plansWaiting = queryOptions({
  queryKey: ["workflows", "waiting"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/v1/workflow-runs", { params: { query: { plan: "waiting", limit: 50 } }, signal })),
  staleTime: staleAfter.short,
});

/** A run, polled until it ends. */
export const run = (id: string) =>
  queryOptions({
    queryKey: ["workflows", "run", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/workflow-runs/{id}", { params: byId(id), signal })),
    staleTime: staleAfter.short,
    refetchInterval: (q) => (q.state.data && live(q.state.data) ? often : false),
  });

export const stopRun = (id: string) =>
  answer(api.POST("/api/v1/workflow-runs/{id}/cancel", { params: { ...byId(id), header: once() } }));

/** Undoes all changes of a run. A dry run returns the fields that would not change, and why. */
export const revertRun = (id: string, dry_run: boolean) =>
  answer(
    api.POST("/api/v1/workflow-runs/{id}/revert", {
      params: { ...byId(id), header: dry_run ? {} : once() },
      body: { dry_run },
    }),
  );

/** One line of a transcript: its fields depend on its kind. */
export type TranscriptLine = { seq: number; at: string; kind: string } & Record<string, unknown>;

/** Reads lines of JSON, and skips empty and unreadable ones. The text is undefined if the response was empty. */
export const linesOf = (text: string | undefined): TranscriptLine[] =>
  (text ?? "").split("\n").flatMap((l) => {
    try {
      return l ? [JSON.parse(l) as TranscriptLine] : [];
    } catch {
      return [];
    }
  });

/** The messages of a run. Only new lines are requested. */
export const transcript = (id: string, going: boolean) =>
  queryOptions({
    queryKey: ["workflows", "transcript", id],
    queryFn: async ({ signal, client, queryKey }) => {
      const before = client.getQueryData<TranscriptLine[]>(queryKey) ?? [];
      const text = await answer(
        api.GET("/api/v1/workflow-runs/{id}/transcript", {
          params: { ...byId(id), query: { after: before.at(-1)?.seq ?? 0 } },
          parseAs: "text",
          signal,
        }),
      );
      const more = linesOf(text);
      return more.length ? [...before, ...more] : before;
    },
    staleTime: 0,
    refetchInterval: going ? often : false,
  });

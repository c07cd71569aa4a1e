import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { AppError, ErrorPage, NotFoundPage, Unloaded } from "./ErrorPage";
import { MorePage } from "./More";
import { moved } from "./moved";
import { Shell } from "./Shell";
import { type Screen, screens } from "./screens";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage, errorComponent: AppError });
const above = { getParentRoute: () => root };

type Raw = Record<string, unknown>;
const plain = <P extends string>(path: P) => createRoute({ ...above, path });
const searched = <P extends string, S>(path: P, validateSearch: (raw: Raw) => S) =>
  createRoute({ ...above, path, validateSearch });

/** The type of a screen's route. With it, TypeScript checks the path and the search of every link. */
type RouteOf<T> = T extends { path: infer P extends string; search: (raw: Raw) => infer S }
  ? ReturnType<typeof searched<P, S>>
  : T extends { path: infer P extends string }
    ? ReturnType<typeof plain<P>>
    : never;
type Routes<T extends readonly unknown[]> = { -readonly [I in keyof T]: RouteOf<T[I]> };

type Parts = Record<string, never>;

/**
 * Loads the script of a page. If that fails, it throws our own error, so that the page shows the failure in its place.
 * The router would react to the browser's error by reloading the address. Without a network, that would lose the app.
 */
const script = (load: () => Promise<unknown>) => () =>
  load().catch((cause: unknown) => {
    throw new Unloaded(undefined, { cause });
  }) as Promise<Parts>;

const routes = screens.map(({ path, page, search }: Screen) =>
  createRoute({
    ...above,
    path,
    ...(search && { validateSearch: search }),
    component: page ? lazyRouteComponent(script(page.load), page.name) : MorePage,
  }),
) as unknown as Routes<typeof screens>;

/**
 * Routes that redirect old addresses, with search and hash, for links that people saved. They have no types, because
 * the app does not link to them.
 */
const old = moved.map(([path, to]) =>
  createRoute({
    ...above,
    path,
    beforeLoad: ({ location: { search, hash } }) => {
      throw redirect({ to, search, hash, replace: true } as Parameters<typeof redirect>[0]);
    },
  }),
) as [];

export const router = createRouter({
  routeTree: root.addChildren([...routes, ...old]),
  defaultErrorComponent: ErrorPage,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

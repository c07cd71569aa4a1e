import { firstDay, lastDay, localDay, monthOf, shift } from "#/lib/days";
import { askEarly, rowFields } from "#/lib/early";
import { pages } from "./pages";

const everywhere = ["/auth/session", "/api/v1/pulse", "/api/v1/overview"];
const categories = "/api/v1/categories";

/** The first requests of a screen. A test compares these addresses with the screens' requests. */
export function firstOf(path: string, today: string): string[] {
  const month = monthOf(today);
  const days = (from: string, to: string) => `start_date=${firstDay(from)}&end_date=${lastDay(to)}`;
  switch (path) {
    case "/":
      return [
        ...everywhere,
        `/api/v1/transactions/summary?group_by=day&${days(shift(month, -12), month)}`,
        `/api/v1/cashflow?${days(month, month)}&compare=previous_period`,
      ];
    case "/review":
      return [...everywhere, "/api/v1/review/groups?limit=100", categories];
    case "/transactions":
      return [
        ...everywhere,
        "/api/v1/transactions/timeline",
        `/api/v1/transactions?fields=${encodeURIComponent(rowFields)}&limit=80`,
        categories,
        "/api/v1/accounts",
        "/api/v1/views",
      ];
    default:
      return everywhere;
  }
}

/** Starts what the screen of an address needs, while the app itself is loaded. */
export function begin({ pathname, search }: { pathname: string; search: string }) {
  askEarly(search ? everywhere : firstOf(pathname, localDay(new Date())));
  if (Object.hasOwn(pages, pathname)) void pages[pathname as keyof typeof pages]();
}

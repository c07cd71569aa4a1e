import type { QueryClient } from "@tanstack/react-query";
import { myPreferences } from "#/api/me";
import { session } from "#/api/session";
import { adopt, readerOf } from "#/lib/reader";

/**
 * Loads the member's language and region, once for each tab. If the page was drawn with others, for example after the
 * first sign-in in this browser, it reloads.
 */
export async function followReader(client: QueryClient) {
  const member = (await client.fetchQuery(session)).user?.id;
  if (!member || sessionStorage.getItem("reader") === member) return;
  const { preferences } = await myPreferences();
  sessionStorage.setItem("reader", member);
  if (adopt(member, readerOf(preferences))) location.reload();
}

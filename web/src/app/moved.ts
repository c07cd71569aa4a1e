/**
 * Former addresses of pages, each with the current one. The server has the same list for addresses that people type.
 */
// biome-ignore format: one address a line
export const moved = [
  ["/targets", "/budget"],
  ["/upcoming", "/recurring/calendar"],
  ["/months", "/cash-flow/trends"],
  ["/findings", "/review/alerts"],
  ["/links", "/review/links"],
  ["/workflows", "/agents"],
  ["/categories", "/settings/categories"],
  ["/household", "/settings/members"],
] as const;

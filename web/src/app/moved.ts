/** Addresses that pages once had, with those that they have now. The server has the same list, for addresses that are typed. */
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

/**
 * Responses to requests that the page's first script sends before the app has loaded. So the requests travel while the
 * rest is loaded and compiled. The next request for the same address gets the response.
 */
const started = new Map<string, { at: number; answer: Promise<Response> }>();

const good = 5000; // milliseconds after which an early response is too old to use

/** Requests addresses that the app will soon need. */
export function askEarly(addresses: readonly string[]) {
  for (const a of addresses) {
    const answer = fetch(a, { credentials: "same-origin" });
    answer.catch(() => {}); // the caller of takeEarly gets the error
    started.set(a, { at: performance.now(), answer });
  }
}

/** The early response to a request, if there is one. It is returned only once. */
export function takeEarly(address: string): Promise<Response> | undefined {
  const one = started.get(address);
  started.delete(address);
  return one && performance.now() - one.at < good ? one.answer : undefined;
}

/** The transaction fields that lists request. */
// biome-ignore format: one text
export const rowFields = "date,amount,iso_currency_code,name,merchant_name,detail,category,category_display_name,category_source,account_name,tags,pending,counterparty_name,payee_name,comment_count,excluded,excluded_reason,linked_transaction_id,transfer,parent_id";

/**
 * Responses that are requested before the app is here. The page's first script starts these requests, so they travel
 * while the rest is loaded and compiled. The next request for the same address gets the response.
 */
const started = new Map<string, { at: number; answer: Promise<Response> }>();

const good = 5000; // milliseconds, after which an answer is too old to be given

/** Asks for addresses that the app is about to ask for. */
export function askEarly(addresses: readonly string[]) {
  for (const a of addresses) {
    const answer = fetch(a, { credentials: "same-origin" });
    answer.catch(() => {}); // the caller that takes it gets the error
    started.set(a, { at: performance.now(), answer });
  }
}

/** The answer to a request, once, if it was started early. */
export function takeEarly(address: string): Promise<Response> | undefined {
  const one = started.get(address);
  started.delete(address);
  return one && performance.now() - one.at < good ? one.answer : undefined;
}

/** The fields of a transaction that lists ask for. */
// biome-ignore format: one text
export const rowFields = "date,amount,iso_currency_code,name,merchant_name,detail,category,category_display_name,category_source,account_name,tags,pending,counterparty_name,payee_name,comment_count,excluded,excluded_reason,linked_transaction_id,transfer,parent_id";

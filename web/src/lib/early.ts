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

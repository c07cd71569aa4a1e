import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { language } from "#/lib/language";

/** Errors that have a text of the app's own, because the server's text is written for programs. */
const own: Record<string, MessageDescriptor> = {
  UNAUTHORIZED: msg`Your session has ended. Sign in again.`,
  INSUFFICIENT_SCOPE: msg`You can view everything but not make changes. Ask an admin for a different role.`,
  PROOF_REQUIRED: msg`Sign in again to do this.`,
  PRECONDITION_FAILED: msg`Someone changed this in the meantime. Reload the page and try again.`,
  IDEMPOTENCY_IN_PROGRESS: msg`This is already being saved. Wait a moment and check.`,
};

/** The meanings of other errors. English readers do not load them, because the server's own text is English. */
let means: Record<string, MessageDescriptor> = {};
export const explain = (table: typeof means) => {
  means = table;
};
if (language !== "en") void import("./meanings").then((m) => explain(m.meanings));

export const sentence = (s: string) => `${s.charAt(0).toUpperCase()}${s.slice(1).replace(/\.$/, "")}.`;

/** The sentence that readers of other languages see before the server's English text. */
export const meaning = (code: string): string =>
  Object.hasOwn(means, code) ? i18n._(means[code] as MessageDescriptor) : "";

/** Why the server refused a request, in words for people. An unknown code has only the server's own text. */
export function refusal({ code, message }: { code: string; message: string }): string {
  if (Object.hasOwn(own, code)) return i18n._(own[code] as MessageDescriptor);
  const words = message.replace(/; (GET|POST) \/api\/.*$/, ""); // removes the part that names an API call
  return [meaning(code), words && sentence(words)].filter(Boolean).join(" ");
}

import { t } from "@lingui/core/macro";

/** The warning on a page that another machine served over HTTP without encryption; "" otherwise. */
export const unprotected = () =>
  globalThis.isSecureContext === false
    ? t`This connection isn’t protected: others on this network can read your password and your data. Use the https address if there is one.`
    : "";

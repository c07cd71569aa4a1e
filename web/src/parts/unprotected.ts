import { t } from "@lingui/core/macro";

/** The warning for a page that came over plain HTTP from another machine; "" elsewhere. */
export const unprotected = () =>
  globalThis.isSecureContext === false
    ? t`This connection isn’t protected: others on this network can read your password and your data. Use the https address if there is one.`
    : "";

import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Why a transaction is left out of totals. */
export const reasons = {
  reimbursed: msg`Reimbursed`,
  duplicate: msg`Duplicate`,
  other: msg`Other reason`,
};
export type Reason = keyof typeof reasons;

export const reasonOf = (r: Reason | null | undefined) => (r ? i18n._(reasons[r]) : "");

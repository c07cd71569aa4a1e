import type { Account } from "#/api/accounts";
import type { Schemas } from "#/api/client";

type Kind = Schemas["CreateAccount"]["kind"];
type Shape = Pick<Account, "type" | "subtype" | "balance_method">;

/** What an account can be, in a household's words, and what that means for its balance. */
export const kinds: readonly [Kind, string, Shape][] = [
  ["cash", "Cash", { type: "depository", subtype: "cash", balance_method: "transactions" }],
  ["checking", "Current account", { type: "depository", subtype: "checking", balance_method: "transactions" }],
  ["savings", "Savings", { type: "depository", subtype: "savings", balance_method: "transactions" }],
  ["card", "Credit card", { type: "credit", subtype: "credit_card", balance_method: "transactions" }],
  ["investment", "Shares and funds", { type: "investment", subtype: "brokerage", balance_method: "valuations" }],
  ["pension", "Pension", { type: "investment", subtype: "pension", balance_method: "valuations" }],
  ["property", "House or flat", { type: "other", subtype: "property", balance_method: "valuations" }],
  ["vehicle", "Car or other vehicle", { type: "other", subtype: "vehicle", balance_method: "valuations" }],
  ["other_asset", "Something else you own", { type: "other", subtype: "other_asset", balance_method: "valuations" }],
  ["mortgage", "Mortgage", { type: "loan", subtype: "mortgage", balance_method: "transactions" }],
  ["loan", "Loan", { type: "loan", subtype: "loan", balance_method: "transactions" }],
  ["other_debt", "Something else you owe", { type: "loan", subtype: "other", balance_method: "valuations" }],
];

/** The kinds as a choice. */
export const kindChoices = kinds.map(([kind, name]) => [kind, name] as const);

export const shapeOf = (kind: string) => kinds.find(([k]) => k === kind)?.[2];

/** The kind of an account; none if a bank's own type is no kind of ours. */
export const kindIs = (a: Shape) =>
  kinds.find(([, , s]) => s.type === a.type && s.subtype === a.subtype && s.balance_method === a.balance_method)?.[0];

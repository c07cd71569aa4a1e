import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Account } from "#/api/accounts";
import type { Schemas } from "#/api/client";

type Kind = Schemas["CreateAccount"]["kind"];
type Shape = Pick<Account, "type" | "subtype" | "balance_method">;

/** The kinds of accounts with their names for people, and how the API describes each. */
export const kinds: readonly [Kind, MessageDescriptor, Shape][] = [
  ["cash", msg`Cash`, { type: "depository", subtype: "cash", balance_method: "transactions" }],
  ["checking", msg`Checking`, { type: "depository", subtype: "checking", balance_method: "transactions" }],
  ["savings", msg`Savings`, { type: "depository", subtype: "savings", balance_method: "transactions" }],
  ["card", msg`Credit card`, { type: "credit", subtype: "credit_card", balance_method: "transactions" }],
  ["investment", msg`Investments`, { type: "investment", subtype: "brokerage", balance_method: "valuations" }],
  ["pension", msg`Pension`, { type: "investment", subtype: "pension", balance_method: "valuations" }],
  ["property", msg`Real estate`, { type: "other", subtype: "property", balance_method: "valuations" }],
  ["vehicle", msg`Vehicle`, { type: "other", subtype: "vehicle", balance_method: "valuations" }],
  ["other_asset", msg`Other asset`, { type: "other", subtype: "other_asset", balance_method: "valuations" }],
  ["mortgage", msg`Mortgage`, { type: "loan", subtype: "mortgage", balance_method: "transactions" }],
  ["loan", msg`Loan`, { type: "loan", subtype: "loan", balance_method: "transactions" }],
  ["other_debt", msg`Other debt`, { type: "loan", subtype: "other", balance_method: "valuations" }],
];

/** The kinds of accounts, to choose from. */
export const kindChoices = () => kinds.map(([kind, name]) => [kind, i18n._(name)] as const);

export const shapeOf = (kind: string) => kinds.find(([k]) => k === kind)?.[2];

/** The kind of an account; undefined if the bank's own type is none of our kinds. */
export const kindIs = (a: Shape) => found(a)?.[0];

/** The name of an account's kind. It does not depend on the balance method. */
export function kindName(a: Pick<Shape, "type" | "subtype">): string | undefined {
  const subtype = a.subtype?.replaceAll(" ", "_");
  const kind = kinds.find(([, , s]) => s.type === a.type && s.subtype === subtype);
  return kind && i18n._(kind[1]);
}

const found = (a: Shape) =>
  kinds.find(([, , s]) => s.type === a.type && s.subtype === a.subtype && s.balance_method === a.balance_method);

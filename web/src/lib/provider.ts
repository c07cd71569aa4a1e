/** A connection or an account. Its provider is the source of its transactions. */
type Sourced = { provider: string };

/** The provider of connections whose statements people upload. coffer calls no server for them. */
export const filesProvider = "csv";

/** Whether its transactions come from uploaded files. */
export const fromFiles = (of: Sourced) => of.provider === filesProvider;

/** Whether people enter its transactions. */
export const enteredManually = (of: Sourced) => of.provider === "manual";

/** A connection or an account, which names where its transactions come from. */
type Sourced = { provider: string };

/** The provider of connections whose statements people upload; no server is asked for them. */
export const filesProvider = "csv";

/** Whether its transactions come from uploaded files. */
export const fromFiles = (of: Sourced) => of.provider === filesProvider;

/** Whether people enter its transactions. */
export const enteredManually = (of: Sourced) => of.provider === "manual";

import { plural } from "@lingui/core/macro";
import { locale } from "./locale";

/** "1,234" */
export const number = (n: number) => n.toLocaleString(locale);

const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });

/** 92.5 → "92.5%" */
export const percent = (n: number) => share.format(n / 100);

/** "3 transactions", "1 transaction". */
export const transactions = (n: number) => plural(n, { one: "# transaction", other: "# transactions" });

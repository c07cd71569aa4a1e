/** "3 payments", "1 payment". */
export const payments = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "payment" : "payments"}`;

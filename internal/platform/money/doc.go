// Package money holds exact amounts, exact totals, the costs of models, and currency codes. It does
// not know accounts or transactions. It converts between currencies only at a rate that the caller
// gives.
//
// The sign convention of the whole service: a positive amount is money out (a purchase, a fee), a
// negative one is money in (a salary, a refund). Balances of accounts are not movements: a positive
// balance is money that the household has or, in a credit or loan account, money that it owes.
//
// No float holds an amount anywhere. An [Amount] does not know its currency, so it has no addition:
// PostgreSQL adds amounts up, grouped by currency. [Total.Add] is only for totals that its caller
// knows to be in the same currency.
package money

// Package money holds exact amounts, exact totals, what models cost, and currency codes. It knows
// nothing of accounts, transactions or exchange rates: nothing here turns one currency into
// another.
//
// The sign convention of the whole service is stated here and nowhere else: a positive amount is
// money out (a purchase, a fee), a negative one is money in (a salary, a refund). Balances of
// accounts are not movements and follow their provider.
//
// No float holds an amount on any road. Neither an [Amount] nor a [Total] has an addition, because
// neither knows its currency: PostgreSQL adds amounts up, grouped by currency.
package money

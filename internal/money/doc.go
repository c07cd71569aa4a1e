// Package money holds exact amounts with their currency, and totals that cannot mix two currencies.
// It knows nothing of accounts, transactions or exchange rates: nothing here turns one currency
// into another.
//
// The sign convention of the whole service is stated here and nowhere else: a positive amount is
// money out (a purchase, a fee), a negative one is money in (a salary, a refund). Balances of
// accounts are not movements and follow their provider.
//
// No float holds an amount on any road. An [Amount] has no addition of its own, because it does not
// know its currency; [Money] adds within one currency, [Totals] keeps one [Total] for each.
package money

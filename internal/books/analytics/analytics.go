// Package analytics adds up transactions and balances, by currency and in groups. Package ledger
// decides which transactions a filter selects. Amounts in different currencies are never added up.
package analytics

import (
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/op"
)

// Totals adds up one household's transactions and balances.
type Totals struct {
	books    *ledger.Books
	accounts *account.Register
}

// New returns the totals of those books and accounts.
func New(books *ledger.Books, accounts *account.Register) *Totals { return &Totals{books, accounts} }

// Ops returns the operations on totals.
func (t *Totals) Ops() []*op.Op {
	return append(t.rateOps(),
		ledger.CommonFilters(op.ToolLimit(op.Reading(op.Spec{
			Name: "transaction.summary", Route: "GET /transactions/summary", Tool: "transaction_summary", Core: true,
			Summary: "Totals transactions by currency and up to two groupings.",
			Agent: "Totals transactions by currency and up to two groupings. Takes all filters of " +
				"query_transactions. Transfers, mirrored rows and hidden accounts are excluded unless " +
				"included. compare adds the same days of the previous period or year; sort_by change shows " +
				"the largest changes. totals covers all groups. Pass on notes to the user. Never add up " +
				"groups of different currencies, or groups by tag.",
		}, t.Summary), toolGroups, toolMostGroups)),
		op.Reading(op.Spec{
			Name: "transaction.timeline", Route: "GET /transactions/timeline",
			Summary: "Counts and sums the transactions of a list by month or day.",
		}, t.Timeline),
		op.Reading(op.Spec{
			Name: "cashflow.get", Route: "GET /cashflow",
			Summary: "Shows income and spending by currency, as nodes and links of a flow chart.",
		}, t.Cashflow),
		op.Reading(op.Spec{
			Name: "year.get", Route: "GET /years/{year}", Heavy: true,
			Summary: "Shows a calendar year by category and tag, compared with the year before.",
		}, t.Year),
		op.Reading(op.Spec{
			Name: "net-worth.get", Route: "GET /net-worth", Heavy: true,
			Summary: "Shows assets, debts and net worth over time, by currency.",
		}, t.NetWorth),
		op.Reading(op.Spec{
			Name: "upcoming.get", Route: "GET /upcoming",
			Summary: "Shows upcoming recurring payments and the lowest projected balance of each account.",
		}, t.Upcoming),
		op.Reading(op.Spec{
			Tool: "get_finances", Core: true, Heavy: true,
			Summary: "Shows balances, net worth over time, cash flow, upcoming payments, monthly targets or a year.",
			Agent: "Shows one view of the household's money, by currency: balances of accounts today, net " +
				"worth over time, cash flow, upcoming payments with the lowest projected balance, monthly targets " +
				"or a year. Never add currencies. derived counts accounts with a calculated balance; gap " +
				"counts accounts whose balances don't match their transactions. Pass on notes to the user.",
		}, t.Finances),
	)
}

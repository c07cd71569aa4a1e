// Package total adds transactions and balances up, by currency and in groups. Which transactions a
// filter means is the ledger's to say, and currencies are never mixed.
package total

import (
	"coffer/internal/account"
	"coffer/internal/ledger"
	"coffer/internal/op"
)

// Totals adds one household's transactions and balances up.
type Totals struct {
	books    *ledger.Books
	accounts *account.Register
}

// New returns the totals of those books and accounts.
func New(books *ledger.Books, accounts *account.Register) *Totals { return &Totals{books, accounts} }

// Ops is the menu of totals.
func (t *Totals) Ops() []*op.Op {
	return append(t.rateOps(),
		ledger.CommonFilters(op.ToolLimit(op.Reading(op.Spec{
			Name: "transaction.summary", Route: "GET /transactions/summary", Tool: "transaction_summary",
			Summary: "Totals transactions by currency and up to two groupings.",
			Agent: "Totals transactions by currency and up to two groupings. Takes all filters of " +
				"query_transactions. Own transfers, mirrored rows and hidden accounts are left out unless " +
				"included. compare adds the same days of the previous period or year; sort_by change " +
				"shows what moved most. totals are of all groups. Tell the user what notes say. Never add " +
				"up groups of different currencies, or groups by tag.",
		}, t.Summary), toolGroups, toolMostGroups)),
		op.Reading(op.Spec{
			Name: "transaction.timeline", Route: "GET /transactions/timeline",
			Summary: "Counts and totals the transactions of a list by month or day.",
		}, t.Timeline),
		op.Reading(op.Spec{
			Name: "cashflow.get", Route: "GET /cashflow",
			Summary: "Shows where money came from and where it went, by currency, as nodes and links.",
		}, t.Cashflow),
		op.Reading(op.Spec{
			Name: "net-worth.get", Route: "GET /net-worth", Heavy: true,
			Summary: "Shows what the household owned and owed over time, by currency.",
		}, t.NetWorth),
		op.Reading(op.Spec{
			Name: "upcoming.get", Route: "GET /upcoming",
			Summary: "Shows which recurring payments are expected in the next days, and how low accounts will be.",
		}, t.Upcoming),
		op.Reading(op.Spec{
			Tool: "get_finances", Heavy: true,
			Summary: "Shows balances, net worth over time, where money came from and went, what is expected, or " +
				"monthly targets.",
			Agent: "Shows one view of the household's money, by currency: balances of accounts today, net worth over " +
				"time, cash flow, upcoming payments with the lowest balance ahead, or monthly targets. Never add " +
				"currencies. derived counts accounts whose balance follows from transactions, gap those whose books " +
				"do not add up. Tell the user what notes say.",
		}, t.Finances),
	)
}

// Package payee lists the people and companies that the household pays or gets money from, under
// the names that people use, and lets people name them. A payee is derived from the texts of
// transactions: it is not stored. This package must not decide what a name is (payeename does) or
// which transactions change (the ledger does).
package payee

import (
	"context"
	"encoding/json"

	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Payees are the payees of one household.
type Payees struct {
	db     *pg.DB
	books  *ledger.Books
	others *counterparty.Counterparties
	rules  Rules
}

// Rules creates the rule that gives new transactions of a payee its name. Package rulebook
// implements it, because this package must not import rules.
type Rules interface {
	AddPayeeRule(ctx context.Context, tx pg.Tx, name string, conditions json.RawMessage, counterparty id.ID) (
		rule id.ID, made []journal.Entry, runs bool, err error)
}

// New returns the payees of these books.
func New(db *pg.DB, books *ledger.Books, others *counterparty.Counterparties, rules Rules) *Payees {
	return &Payees{db, books, others, rules}
}

// Ops returns the operations on payees.
func (p *Payees) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "payee.list", Route: "GET /payees",
			Summary: "Lists the payees of transactions, with what they got and paid.",
			Adds: &op.Adding{
				Args: []string{"sort_by", "cursor", "limit"}, List: "payees", Fields: []string{"payee", "payee_name"},
			},
		}, p.List),
		op.Reading(op.Spec{
			Name: "payee.get", Route: "GET /payees/{payee}",
			Summary: "Shows one payee by month, with the bank's texts for it and payees that look like it.",
		}, p.Get),
		op.Writing(op.Spec{
			Name: "payee.name", Route: "POST /payees/name",
			Summary: "Gives payees one name: their transactions get a counterparty, and so will new ones.",
		}, p.Name),
	}
}

// A Payee holds the figures of one payee in one currency.
type Payee struct {
	Payee        id.Key             `json:"payee" doc:"Key of the payee, for the filter payee; of a counterparty, the key of most of its transactions"`
	PayeeName    text.Untrusted     `json:"payee_name" doc:"Untrusted: the counterparty's name, else the name in the bank's text"`
	Counterparty *PayeeCounterparty `json:"counterparty" doc:"null: these transactions have no counterparty"`
	Count        int64              `json:"count"`
	MoneyIn      money.Total        `json:"money_in"`
	MoneyOut     money.Total        `json:"money_out"`
	Currency     money.Currency     `json:"iso_currency_code"`
	FirstDate    pg.Date            `json:"first_date"`
	LastDate     pg.Date            `json:"last_date"`
	Category     *string            `json:"category" doc:"Slug of the most common category"`
}

// A PayeeCounterparty is a counterparty, by its names.
type PayeeCounterparty struct { //nolint:revive // it names a schema of the API, where no package stands before it
	ID      id.ID          `json:"id"`
	ShortID string         `json:"short_id,omitempty" required:"true"`
	Name    text.Untrusted `json:"name"`
}

// A SimilarPayee is one of several payees that may be the same.
type SimilarPayee struct {
	Payee          id.Key         `json:"payee"`
	PayeeName      text.Untrusted `json:"payee_name" doc:"Untrusted: from the bank's text"`
	CounterpartyID *id.ID         `json:"counterparty_id"`
	Count          int64          `json:"count"`
}

package connection

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A bankBook is an in-memory bank that reports its changes as a Delta: an event for each added,
// changed or removed row, and cursors into the list of events.
type bankBook struct {
	mu     sync.Mutex
	size   int
	events []event
	truth  map[string]bank.Transaction
	errs   []error // errors of the next calls; nil for a call that succeeds
	moves  int     // how often a loop must restart
	bad    []bank.Bad
	gone   string             // the account that is no longer shared
	during chan chan struct{} // receives a channel for each call; the call returns when that channel is closed
}

type event struct {
	row     bank.Transaction
	removed bool
}

func (b *bankBook) Name() string { return "plaid" }

func (b *bankBook) Traits() bank.Traits {
	return bank.Traits{
		Title: "Test", Shape: bank.Delta, PageSize: b.size, HasPendingLink: true,
		MinInterval: time.Minute,
	}
}

func (b *bankBook) Accounts(context.Context, bank.Credentials) ([]bank.Account, error) {
	return slices.DeleteFunc([]bank.Account{
		{
			ProviderID: "acc-1", Name: text.Name("Everyday"), Type: bank.Depository, Currency: "EUR",
			Current: new(money.MustParse("100.00")),
		},
		{ProviderID: "acc-2", Name: text.Name("Card"), Type: bank.Credit, Currency: "EUR"},
	}, func(a bank.Account) bool { return a.ProviderID == b.gone }), nil
}

func (b *bankBook) Pull(_ context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	b.mu.Lock()
	during := b.during
	b.mu.Unlock()
	if during != nil {
		release := make(chan struct{})
		during <- release
		<-release
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if string(c) != `{"token":"t"}` {
		return bank.Page{}, &bank.Error{Provider: "plaid", Class: bank.Ours, Code: "INVALID_ACCESS_TOKEN"}
	}
	if len(b.errs) > 0 {
		err := b.errs[0]
		b.errs = b.errs[1:]
		if err != nil {
			return bank.Page{}, err
		}
	}
	if at.Next != "" && b.moves > 0 {
		b.moves--
		return bank.Page{Restart: true}, nil
	}
	from := 0
	for _, s := range []string{at.Cursor, at.Next} {
		if s != "" {
			_, _ = fmt.Sscanf(s, "c%d", &from)
		}
	}
	end := min(len(b.events), from+b.size)
	page := bank.Page{Last: end == len(b.events), Bad: b.bad}
	b.bad = nil
	for _, e := range b.events[from:end] {
		if e.removed {
			page.Removed = append(page.Removed, bank.Removal{ProviderID: e.row.ProviderID, AccountID: e.row.AccountID})
		} else {
			page.Transactions = append(page.Transactions, e.row)
		}
	}
	page.Next = fmt.Sprintf("c%d", end)
	if page.Last {
		page.Cursor = page.Next
	}
	return page, nil
}

func (b *bankBook) put(rows ...bank.Transaction) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rows {
		b.events, b.truth[r.ProviderID] = append(b.events, event{row: r}), r
	}
}

func (b *bankBook) drop(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range ids {
		b.events = append(b.events, event{row: b.truth[x], removed: true})
		delete(b.truth, x)
	}
}

func charge(provider, amount, name string) bank.Transaction {
	return bank.Transaction{
		ProviderID: provider, AccountID: "acc-1", Date: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		Amount: money.MustParse(amount), Currency: "EUR", Name: text.Name(name),
		CategoryPrimary: text.Name("FOOD_AND_DRINK"), CategoryDetailed: text.Name("FOOD_AND_DRINK_COFFEE"),
	}
}

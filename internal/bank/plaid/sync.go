package plaid

import (
	"context"
	"encoding/json"

	"coffer/internal/bank"
)

type syncRequest struct {
	AccessToken string      `json:"access_token"`
	Cursor      string      `json:"cursor,omitempty"`
	Count       int         `json:"count"`
	Options     syncOptions `json:"options"`
}

type syncOptions struct {
	CategoryVersion string `json:"personal_finance_category_version"`
	DaysRequested   int    `json:"days_requested"`
	Original        bool   `json:"include_original_description"` // the bank's own text
}

// A syncPage keeps rows undecoded, so an unreadable row does not spoil its page.
type syncPage struct {
	Accounts   []json.RawMessage `json:"accounts"`
	Added      []json.RawMessage `json:"added"`
	Modified   []json.RawMessage `json:"modified"`
	Removed    []json.RawMessage `json:"removed"`
	NextCursor *string           `json:"next_cursor"`
	HasMore    *bool             `json:"has_more"`
	Status     string            `json:"transactions_update_status"`
}

// Pull implements [bank.Provider].
func (p *Plaid) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	creds, err := p.open(c)
	if err != nil {
		return bank.Page{}, err
	}
	cursor := at.Next
	if cursor == "" {
		cursor = at.Cursor
	}
	var page syncPage
	err = p.read(ctx, "/transactions/sync", creds, syncRequest{
		AccessToken: creds.AccessToken, Cursor: cursor, Count: pageSize, Options: syncOptions{"v2", historyDays, true},
	}, &page, 0)
	if err != nil {
		if bank.Classify(err).Code == mutation {
			return bank.Page{Restart: true}, nil
		}
		return bank.Page{}, err
	}
	// Without both fields the page's position is unknown, and a cursor that does not advance would
	// never end.
	if page.NextCursor == nil || page.HasMore == nil || *page.HasMore &&
		(*page.NextCursor == "" || *page.NextCursor == cursor) {
		return bank.Page{}, p.client.Malformed()
	}
	out := page.read()
	if *page.HasMore {
		out.Next = *page.NextCursor
		return out, nil
	}
	out.Last, out.Cursor = true, *page.NextCursor
	if out.Cursor == "" {
		out.Cursor = cursor // nothing to read yet
	}
	out.Gathering = page.Status == "NOT_READY" || page.Status == "INITIAL_UPDATE_COMPLETE" || out.Cursor == ""
	return out, nil
}

// read converts the rows.
func (s syncPage) read() bank.Page {
	var out bank.Page
	for _, raw := range s.Accounts {
		if a, ok := readAccount(raw); ok {
			out.Accounts = append(out.Accounts, a)
		}
	}
	for _, rows := range [][]json.RawMessage{s.Added, s.Modified} {
		for _, raw := range rows {
			t, reason := readTransaction(raw)
			if reason != "" {
				out.Bad = append(out.Bad, bank.NewBad(raw, t.ProviderID, t.AccountID, reason))
				continue
			}
			out.Transactions = append(out.Transactions, t)
		}
	}
	out.Transactions = bank.Latest(out.Transactions)
	for _, raw := range s.Removed {
		var r struct {
			ID        bank.OptionalString `json:"transaction_id"`
			AccountID bank.OptionalString `json:"account_id"`
		}
		if json.Unmarshal(raw, &r) != nil || !bank.IsID(string(r.ID)) {
			out.Bad = append(out.Bad, bank.NewBad(raw, string(r.ID), string(r.AccountID), bank.BadID))
			continue
		}
		out.Removed = append(out.Removed, bank.Removal{ProviderID: string(r.ID), AccountID: string(r.AccountID)})
	}
	return out
}

package teller

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"coffer/internal/bank"
)

// A readPosition is the progress of a loop among the accounts. It is stored in [bank.Position],
// because another server may request the next page.
type readPosition struct {
	Todo    []todo `json:"todo"`    // accounts that are not completely read, the current one first
	Oldest  string `json:"oldest"`  // the id of the last row so far; the next page is older
	Blurred bool   `json:"blurred"` // a row without an id came, so removed rows cannot be detected
}

// A todo holds what reading an account's rows requires.
type todo struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Currency string `json:"currency"`
}

// Pull implements [bank.Provider]: the first page also contains the accounts, which are then read
// one after another.
func (t *Teller) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	creds, err := t.open(c)
	if err != nil {
		return bank.Page{}, err
	}
	var page bank.Page
	var here readPosition
	if at.Next == "" {
		page, here, err = t.survey(ctx, creds, at.Accounts)
	} else if json.Unmarshal([]byte(at.Next), &here) != nil || len(here.Todo) == 0 {
		err = &bank.Error{
			Provider: name, Class: bank.Ours, Code: "POSITION",
			Advice: "this is a bug in coffer; please report it",
		}
	}
	if err != nil {
		return bank.Page{}, err
	}
	if len(here.Todo) == 0 {
		page.Last = true
		return page, nil
	}
	if err := t.rows(ctx, creds, at.From, &here, &page); err != nil || page.Restart {
		return page, err
	}
	if len(here.Todo) == 0 {
		page.Last = true
		return page, nil
	}
	next, err := json.Marshal(here)
	page.Next = string(next)
	return page, err
}

// survey lists the accounts and decides which of them to read.
func (t *Teller) survey(ctx context.Context, c credentials, only []string) (bank.Page, readPosition, error) {
	var page bank.Page
	var here readPosition
	accounts, err := t.accounts(ctx, c)
	if err != nil {
		return page, here, err
	}
	for _, a := range accounts {
		ours := a.ours()
		page.Accounts = append(page.Accounts, ours)
		switch {
		case len(only) > 0 && !slices.Contains(only, ours.ProviderID):
		case a.Status == "closed":
			page.Closed = append(page.Closed, ours.ProviderID)
		case a.Links.Transactions != "":
			here.Todo = append(here.Todo, todo{ours.ProviderID, ours.Type, string(ours.Currency)})
		}
	}
	return page, here, nil
}

// rows reads one page of an account and advances the position.
func (t *Teller) rows(ctx context.Context, c credentials, from time.Time, here *readPosition, page *bank.Page) error {
	now := here.Todo[0]
	query := url.Values{"count": {strconv.Itoa(pageSize)}}
	if here.Oldest != "" {
		query.Set("from_id", here.Oldest)
	}
	if !from.IsZero() {
		query.Set("start_date", from.AddDate(0, 0, -marginDays).Format(time.DateOnly))
	}
	var raws []json.RawMessage
	err := t.get(ctx, "/accounts/"+url.PathEscape(now.ID)+"/transactions?"+query.Encode(), c, &raws)
	if f, ok := errors.AsType[*bank.Error](err); ok && f.Class == bank.Permanent {
		switch {
		case f.Status == http.StatusGone:
			page.Closed = append(page.Closed, now.ID)
			here.next()
			return nil
		case f.Status == http.StatusNotFound && here.Oldest != "":
			*page = bank.Page{Restart: true} // the row after which to continue is gone
			return nil
		}
	}
	if err != nil {
		return err
	}
	if raws == nil || len(raws) > pageSize {
		return t.client.Malformed()
	}
	before := here.Oldest
	here.read(raws, page)
	// Teller's largest count is unknown, so a short page need not be the last one. Only an empty
	// page is the last.
	if len(raws) > 0 && here.Oldest != before {
		return nil
	}
	if !here.Blurred && len(raws) == 0 {
		page.Complete = []bank.Extent{{AccountID: now.ID, From: from}}
	}
	here.next()
	return nil
}

// read converts the rows.
func (p *readPosition) read(raws []json.RawMessage, page *bank.Page) {
	a := bank.Account{ProviderID: p.Todo[0].ID, Type: p.Todo[0].Type}
	_ = a.Currency.UnmarshalText([]byte(p.Todo[0].Currency)) // an invalid currency stays ""; then no row can be read
	for _, raw := range raws {
		row, reason := readTransaction(raw, a)
		if bank.IsID(row.ProviderID) {
			p.Oldest = row.ProviderID
		} else {
			p.Blurred = true
		}
		if reason != "" {
			page.Bad = append(page.Bad, bank.NewBad(raw, row.ProviderID, row.AccountID, reason))
			continue
		}
		page.Transactions = append(page.Transactions, row)
	}
	page.Transactions = bank.Latest(page.Transactions)
}

// next advances to the next account.
func (p *readPosition) next() { *p = readPosition{Todo: p.Todo[1:]} }

package simplefin

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"coffer/internal/bank"
)

// A readPosition is the progress of a loop, which goes back in time, some days for each page. It is
// stored in [bank.Position], because another server may request the next page.
type readPosition struct {
	End     int64    `json:"end"`   // where the next page ends, in seconds (exclusive)
	First   int64    `json:"first"` // the first moment that the loop must read
	Oldest  int64    `json:"oldest"`
	Empty   int      `json:"empty"`   // consecutive pages without a row
	Whole   []string `json:"whole"`   // accounts that every page has read completely so far
	Blurred bool     `json:"blurred"` // no account is known to be complete
}

// Pull implements [bank.Provider]. Each page is one call for all accounts.
func (s *SimpleFIN) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	a, err := s.open(c)
	if err != nil {
		return bank.Page{}, err
	}
	newest := at.Next == ""
	here := s.start(at.From)
	if !newest && (json.Unmarshal([]byte(at.Next), &here) != nil || here.End == 0) {
		return bank.Page{}, &bank.Error{
			Provider: name, Class: bank.Ours, Code: "POSITION", Advice: "this is a bug in coffer; please report it",
		}
	}
	from := max(here.End-chunkDays*24*60*60, here.First)
	query := url.Values{
		"start-date": {strconv.FormatInt(from, 10)}, "end-date": {strconv.FormatInt(here.End, 10)},
	}
	if newest { // pending rows are recent, whatever days are requested
		query.Set("pending", "1")
	}
	got, err := s.get(ctx, a, query)
	if err != nil {
		return bank.Page{}, err
	}
	var page bank.Page
	dim := got.read(&page, at.Accounts)
	here.note(got, dim, newest, at.Accounts)
	if here.Empty++; len(page.Transactions)+len(page.Bad) > 0 {
		here.Empty = 0
	}
	here.Oldest, here.End = from, from
	if from <= here.First || at.From.IsZero() && here.Empty >= emptyChunks {
		page.Last = true
		if !here.Blurred {
			for _, id := range here.Whole {
				page.Complete = append(page.Complete, bank.Extent{AccountID: id, From: here.since(at.From)})
			}
		}
		return page, nil
	}
	next, err := json.Marshal(here)
	page.Next = string(next)
	return page, err
}

// start returns the position of a loop's first page. Servers in other time zones may be a day
// ahead.
func (s *SimpleFIN) start(from time.Time) readPosition {
	today := s.now().UTC().Truncate(24 * time.Hour)
	first := today.AddDate(0, 0, -historyDays)
	if !from.IsZero() {
		first = from.AddDate(0, 0, -marginDays)
	}
	return readPosition{End: today.AddDate(0, 0, 2).Unix(), First: first.Unix()}
}

// since returns the first day of the range that a loop has read completely.
func (p readPosition) since(from time.Time) time.Time {
	if from.IsZero() {
		return time.Unix(p.Oldest, 0).UTC().AddDate(0, 0, marginDays)
	}
	return from
}

// read converts an answer to a page. It returns the accounts that the answer may have read
// incompletely.
func (a answer) read(page *bank.Page, only []string) shade {
	var dim shade
	page.Accounts = a.ours()
	page.Troubles, dim = a.troubles()
	for _, x := range a.listed {
		if x.account.Currency == "" || len(only) > 0 && !slices.Contains(only, x.account.ProviderID) {
			continue
		}
		for _, raw := range x.wire.Transactions {
			row, reason := readTransaction(raw, x.account)
			if reason == "" {
				page.Transactions = append(page.Transactions, row)
				continue
			}
			if !bank.IsID(row.ProviderID) { // this row cannot be distinguished from a removed one
				dim.accounts = append(dim.accounts, x.account.ProviderID)
			}
			page.Bad = append(page.Bad, bank.NewBad(raw, row.ProviderID, row.AccountID, reason))
		}
	}
	page.Transactions = bank.Latest(page.Transactions)
	return dim
}

// note keeps in Whole only the accounts that every page so far, with this one, has read completely.
func (p *readPosition) note(a answer, dim shade, newest bool, only []string) {
	p.Blurred = p.Blurred || dim.all
	var whole []string
	for _, x := range a.ours() {
		id := x.ProviderID
		if slices.Contains(dim.banks, x.BankID) || slices.Contains(dim.accounts, id) ||
			!newest && !slices.Contains(p.Whole, id) || len(only) > 0 && !slices.Contains(only, id) {
			continue
		}
		whole = append(whole, id)
	}
	p.Whole = whole
}

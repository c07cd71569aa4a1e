package enablebanking

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/text"
)

// maxPages limits the pages that are read of one account. Banks return up to two years.
const maxPages = 400

// shorter lists the periods, in days, to request if a bank rejects a longer one.
var shorter = []int{89, 60, 30}

// Accounts implements [bank.Provider].
func (e *EnableBanking) Accounts(ctx context.Context, c bank.Credentials) ([]bank.Account, error) {
	creds, err := e.open(c)
	if err == nil {
		err = e.alive(ctx, creds)
	}
	if err != nil {
		return nil, err
	}
	return creds.ours(), nil
}

func (c credentials) ours() []bank.Account {
	out := make([]bank.Account, len(c.Accounts))
	for i, a := range c.Accounts {
		out[i] = a.ours()
	}
	return out
}

// alive returns an error if the session no longer gives access. The call does not reach the bank.
func (e *EnableBanking) alive(ctx context.Context, c credentials) error {
	var out struct {
		Status string `json:"status"`
	}
	if err := e.call(ctx, http.MethodGet, "/sessions/"+url.PathEscape(c.Session), nil, nil, &out); err != nil {
		return err
	}
	switch out.Status {
	case "AUTHORIZED":
		return nil
	case "CLOSED":
		return &bank.Error{
			Provider: name, Class: bank.Permanent, Code: closed,
			Advice: "access to the bank was given up; reconnect the bank",
		}
	case "":
		return e.client.Malformed()
	}
	return &bank.Error{
		Provider: name, Class: bank.Reauth, Code: bank.Code(out.Status + "_SESSION"), Advice: adviceSignIn,
	}
}

// excuse returns nil if a failure is about one account only. Some banks permanently reject an
// account with the same response as for an ended session, so excuse checks the session.
func (e *EnableBanking) excuse(ctx context.Context, c credentials, err error) error {
	if !aboutAccount(err) {
		return err
	}
	return e.alive(ctx, c)
}

// Pull implements [bank.Provider]. Each page has one account with all rows that the bank lists,
// because only all rows together show which of them are copies.
func (e *EnableBanking) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	creds, err := e.open(c)
	if err != nil {
		return bank.Page{}, err
	}
	wanted := func(a account) bool { return len(at.Accounts) == 0 || slices.Contains(at.Accounts, a.Hash) }
	here := 0
	if at.Next != "" {
		if here, err = strconv.Atoi(at.Next); err != nil || here < 1 || here > len(creds.Accounts) {
			return bank.Page{}, &bank.Error{
				Provider: name, Class: bank.Ours, Code: "POSITION", Advice: "this is a bug in coffer; please report it",
			}
		}
	}
	var page bank.Page
	if here == 0 {
		page.Accounts = creds.ours()
		for i, a := range creds.Accounts {
			if !wanted(a) {
				continue
			}
			if err := e.balances(ctx, creds, a, at.Person, &page.Accounts[i]); err != nil {
				return bank.Page{}, err
			}
		}
	}
	for here < len(creds.Accounts) && !wanted(creds.Accounts[here]) {
		here++
	}
	if here < len(creds.Accounts) {
		if err := e.account(ctx, creds, creds.Accounts[here], at, &page); err != nil {
			return bank.Page{}, err
		}
		here++
	}
	if page.Last = here >= len(creds.Accounts); !page.Last {
		page.Next = strconv.Itoa(here)
	}
	return page, nil
}

// balances reads the balances of an account. If only this account fails, it stays in the list
// without balances.
func (e *EnableBanking) balances(ctx context.Context, c credentials, a account, person *bank.Person,
	out *bank.Account,
) error {
	var got struct {
		Balances []json.RawMessage `json:"balances"`
	}
	err := e.call(ctx, http.MethodGet, "/accounts/"+url.PathEscape(a.UID)+"/balances", person, nil, &got)
	if err != nil {
		return e.excuse(ctx, c, err)
	}
	if got.Balances == nil {
		return e.client.Malformed()
	}
	var listed []balance
	for _, raw := range got.Balances {
		var b balance
		if json.Unmarshal(raw, &b) == nil {
			listed = append(listed, b)
		}
	}
	a.settle(out, listed)
	return nil
}

// account reads the rows of an account into a page.
func (e *EnableBanking) account(ctx context.Context, c credentials, a account, at bank.Position,
	page *bank.Page,
) error {
	got, err := e.list(ctx, a, at.From, at.Person)
	trouble := bank.Trouble{
		BankID: institutionID(c.Bank, c.Country), BankName: text.Name(c.Bank), AccountID: a.Hash, Class: bank.Later,
	}
	if err != nil {
		if wrong := e.excuse(ctx, c, err); wrong != nil {
			return wrong
		}
		trouble.Code, trouble.Advice = bank.Classify(err).Code, adviceOne
		page.Troubles = append(page.Troubles, trouble)
		return nil
	}
	var rows, undated []bank.Transaction
	for _, raw := range got.rows {
		row, reason := readTransaction(raw, a.ours())
		switch {
		case reason == skip:
		case reason != "":
			if reason == bank.BadDate {
				undated = append(undated, row)
			}
			page.Bad = append(page.Bad, bank.NewBad(raw, hashID(string(raw)), a.Hash, reason))
		default:
			rows = append(rows, row)
		}
	}
	rows = single(rows, undated)
	number(rows)
	oldest := e.now().UTC().Truncate(24 * time.Hour)
	for _, t := range rows {
		if t.Date.Before(oldest) {
			oldest = t.Date
		}
		// earlier days were only read because their balances help to find copies
		if !t.Date.Before(at.From) {
			page.Transactions = append(page.Transactions, t)
		}
	}
	if !got.whole {
		trouble.Code, trouble.Advice = "INCOMPLETE", adviceCut
		page.Troubles = append(page.Troubles, trouble)
		return nil
	}
	since := at.From
	if since.IsZero() || got.since.After(since) {
		since = got.since
	}
	if since.IsZero() {
		since = oldest
	}
	page.Complete = append(page.Complete, bank.Extent{AccountID: a.Hash, From: since})
	return nil
}

// A listing holds the rows that a bank lists for an account.
type listing struct {
	rows  []json.RawMessage
	since time.Time // the first requested day; zero if all rows were requested
	whole bool
}

// list reads the rows of an account from some days before from on. If the bank rejects the period,
// it requests shorter ones.
func (e *EnableBanking) list(ctx context.Context, a account, from time.Time, person *bank.Person) (listing, error) {
	today := e.now().UTC().Truncate(24 * time.Hour)
	starts := []time.Time{{}}
	if !from.IsZero() {
		starts[0] = from.AddDate(0, 0, -marginDays)
	}
	for _, days := range shorter {
		if day := today.AddDate(0, 0, -days); day.After(starts[0]) {
			starts = append(starts, day)
		}
	}
	for i, start := range starts {
		got, err := e.pages(ctx, a, start, person)
		if i+1 < len(starts) && err != nil && bank.Classify(err).Code == period {
			continue
		}
		return got, err
	}
	return listing{}, nil // never reached: there is always a start
}

// pages reads all pages of a period. Some banks repeat a continuation key, or ignore it and return
// the first page again. Both end the list, which is then marked as incomplete.
func (e *EnableBanking) pages(ctx context.Context, a account, start time.Time, person *bank.Person) (listing, error) {
	query := url.Values{}
	if start.IsZero() {
		query.Set("strategy", "longest")
	} else {
		query.Set("date_from", start.Format(time.DateOnly))
	}
	out := listing{since: start}
	keys, seen := map[string]bool{}, map[[32]byte]bool{}
	for n := range maxPages {
		var got struct {
			Transactions []json.RawMessage   `json:"transactions"`
			Key          bank.OptionalString `json:"continuation_key"`
		}
		path := "/accounts/" + url.PathEscape(a.UID) + "/transactions?" + query.Encode()
		if err := e.call(ctx, http.MethodGet, path, person, nil, &got); err != nil {
			f := bank.Classify(err)
			if n > 0 && f.Code != period && (f.Status == http.StatusBadRequest ||
				f.Status == http.StatusUnprocessableEntity) {
				return out, nil // the bank rejects its own continuation key
			}
			return listing{}, err
		}
		if got.Transactions == nil {
			return listing{}, e.client.Malformed()
		}
		digest := sha256.Sum256(bytes.Join(byteRows(got.Transactions), []byte{'\n'}))
		if len(got.Transactions) > 0 && seen[digest] {
			return out, nil
		}
		seen[digest] = true
		out.rows = append(out.rows, got.Transactions...)
		if out.whole = got.Key == ""; out.whole || keys[string(got.Key)] {
			return out, nil
		}
		keys[string(got.Key)] = true
		query.Set("continuation_key", string(got.Key))
	}
	return out, nil
}

func byteRows(rows []json.RawMessage) [][]byte {
	out := make([][]byte, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	return out
}

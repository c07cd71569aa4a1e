package statement

import (
	"context"
	"errors"
	"iter"

	"coffer/internal/platform/text"
)

// Of returns the file with only the rows of one of its accounts. Skipped lines without an account,
// such as totals, belong to the first account.
func (f File) Of(a Account) File {
	all := f.Accounts()
	if len(all) == 1 {
		return f
	}
	others := map[text.Untrusted]bool{}
	for _, o := range all {
		others[o.Key] = o.Key != a.Key
	}
	first := all[0].Key == a.Key
	f.only = func(key text.Untrusted, left bool) bool {
		other, known := others[key]
		return known && !other || !known && left && first
	}
	f.Preview.Accounts, f.Rejected = []Account{a}, a.Rejected
	f.FirstDate, f.LastDate, f.RowsRejected = a.FirstDate, a.LastDate, a.RowsRejected
	f.RowsTotal, f.RowsSkipped = a.Rows+a.RowsRejected, 0
	for _, s := range a.Skipped {
		f.RowsSkipped += s.Count
	}
	if f.Currency = a.Currency; a.Currency != "" {
		f.DefaultCurrency = a.Currency
	}
	if f.AccountNumber = a.IBAN; a.IBAN == "" {
		f.AccountNumber = a.Number
	}
	return f
}

// Rows reads the file: see [Format.Read].
func (f File) Rows(ctx context.Context) iter.Seq2[Row, error] {
	rows := f.Format.Read(ctx, f.Content, f.Preview)
	if f.only == nil {
		return rows
	}
	return func(yield func(Row, error) bool) {
		for row, err := range rows {
			key := row.Account
			no, left := errors.AsType[*RowError](err)
			if left {
				key = no.Account
			} else if err != nil {
				yield(row, err)
				return
			}
			if f.only(key, left) && !yield(row, err) {
				return
			}
		}
	}
}

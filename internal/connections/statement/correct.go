package statement

import (
	"context"
	"fmt"

	"coffer/internal/bank/statement"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A replacement is a row of a file that corrects an earlier one.
type replacement struct {
	of     text.Untrusted // the bank's id of the earlier row
	row    ledger.Incoming
	number int
	stored bool // the row is already in the books
}

// correct applies the file's corrections and deletions of earlier rows. It runs after the file's
// other rows are stored, because a file can contain both a row and its correction.
func (in *taking) correct(ctx context.Context, tx pg.Tx, file statement.File) error {
	rows, deletes := in.replacing, file.Accounts()[0].Deletes
	in.replacing = nil
	ids := append([]text.Untrusted{}, deletes...)
	for _, r := range rows {
		ids = append(ids, r.of)
	}
	if len(ids) == 0 {
		return nil
	}
	if in.OnlyNew { // an agent's file must not change stored rows
		for range deletes {
			in.at.out.leaveOut(&statement.RowError{Skip: true, Message: kept})
		}
	}
	found, err := corrected(ctx, tx, in.account, file.Format.Name, ids)
	if err != nil {
		return err
	}
	unknown := 0
	var gone, was []string
	var corrected []ledger.Incoming
	for _, r := range rows {
		at, n := theOne(found[r.of])
		switch {
		case n == 1 && in.OnlyNew:
			in.at.out.leaveOut(&statement.RowError{Row: r.number, Skip: true, Message: kept})
			continue
		case n == 1 && r.stored && !at.Gone: // stored before the row that it corrects
			gone = append(gone, at.Key)
		case n == 1 && !r.stored:
			was, corrected = append(was, at.Key), append(corrected, r.row)
			continue
		case n != 1 && !r.stored:
			unknown++
		}
		in.part.numbers, in.part.rows = append(in.part.numbers, r.number), append(in.part.rows, r.row)
	}
	if !in.OnlyNew {
		for _, d := range deletes {
			switch at, n := theOne(found[d]); {
			case n != 1:
				unknown++
			case !at.Gone:
				gone = append(gone, at.Key)
			}
		}
	}
	if unknown > 0 {
		in.at.warnings = append(in.at.warnings, uncorrected(unknown))
	}
	if err := in.flush(ctx, tx); err != nil {
		return err
	}
	entries, err := in.books.Correct(ctx, tx, in.account, was, corrected)
	if err != nil {
		return err
	}
	in.entries = append(in.entries, entries...)
	in.part.rows = append(in.part.rows, corrected...)
	if err := in.flush(ctx, tx); err != nil {
		return err
	}
	entries, err = in.books.Withdraw(ctx, tx, in.account, gone)
	in.entries = append(in.entries, entries...)
	for _, e := range entries {
		if e.Field == journal.FieldDeleted {
			in.at.out.Removed++
		}
	}
	return err
}

// correct adds to the reckoning what the file's corrections and deletions of earlier rows would do.
func (out *reckoning) correct(ctx context.Context, q pg.Querier, account id.ID, file statement.File, rows []replacement,
	moves map[pg.Date]money.Total,
) error {
	deletes := file.Accounts()[0].Deletes
	ids := append([]text.Untrusted{}, deletes...)
	for _, r := range rows {
		ids = append(ids, r.of)
	}
	found, err := corrected(ctx, q, account, file.Format.Name, ids)
	if err != nil {
		return err
	}
	move := func(day pg.Date, amount money.Amount) (err error) {
		moves[day], err = moves[day].Add(amount.Total())
		return err
	}
	goes := func(s statement.Stored) error {
		day, err := pg.ParseDate(s.Date)
		if err != nil || s.Gone {
			return err
		}
		amount, err := money.FromCents(-s.Cents)
		if err != nil {
			return err
		}
		return move(day, amount)
	}
	for _, r := range rows {
		if at, n := theOne(found[r.of]); n == 1 {
			out.known++
			if err := goes(at); err != nil {
				return err
			}
		}
		if err := move(r.row.Date, r.row.Amount); err != nil {
			return err
		}
	}
	for _, d := range deletes {
		if at, n := theOne(found[d]); n == 1 {
			if err := goes(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// uncorrected warns about corrections whose row was not found.
func uncorrected(n int) statement.Warning {
	return statement.Warning{
		Code: "correction_unmatched",
		Message: fmt.Sprintf("the bank corrects or deletes earlier rows, and for %d of them no stored row, or more "+
			"than one, has the id that the file names; nothing was changed for these, so check them", n),
	}
}

// theOne returns the stored row that a correction is about, and 1. If it cannot decide, it returns
// the number of candidates. It considers deleted rows only if there is no other candidate.
func theOne(of []statement.Stored) (statement.Stored, int) {
	var live []statement.Stored
	for _, s := range of {
		if !s.Gone {
			live = append(live, s)
		}
	}
	if len(live) == 0 {
		live = of
	}
	if len(live) != 1 {
		return statement.Stored{}, len(live)
	}
	return live[0], 1
}

// corrected returns the rows of an account that have these ids from the bank. Where a file has more
// corrections than that, the others are not found.
func corrected(ctx context.Context, q pg.Querier, account id.ID, format string, ids []text.Untrusted) (
	map[text.Untrusted][]statement.Stored, error,
) {
	if account.IsZero() || len(ids) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	rows, err := pg.All[struct {
		Key    string       `db:"provider_id"`
		Date   pg.Date      `db:"date"`
		Amount money.Amount `db:"amount"`
		Gone   bool         `db:"gone"`
	}](ctx, q, `select provider_id, date, amount, deleted_at is not null as gone from transaction
		where account_id = $1 and origin = 'bank' and starts_with(provider_id, $2) order by provider_id`, account, format)
	if err != nil {
		return nil, err
	}
	stored := make([]statement.Stored, len(rows))
	for i, r := range rows {
		stored[i] = statement.Stored{Key: r.Key, Date: r.Date.String(), Cents: r.Amount.Cents(), Gone: r.Gone}
	}
	return statement.Corrected(format, ids[:min(len(ids), statement.MaxCorrections)], stored), nil
}

package statement

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A taking is the import of a file's rows into one account.
type taking struct {
	*Statements
	delivery
	likely         bool // also store rows that another source seems to have delivered
	account, under id.ID
	reports        *reported
	balances       fileBalances
	part           bundle
	splits         int // number of rows that the file splits
	lost           loss
	sum            money.Total   // of the file's rows in its currency; money out is positive
	replacing      []replacement // rows of the file that correct earlier ones
	at             *progress
	entries        []journal.Entry
}

// takeAccount stores a file's rows for one account, and reports whether the rows explain the file's
// balances.
func (s *Statements) takeAccount(ctx context.Context, tx pg.Tx, d delivery, t target, p portion, at *progress) (
	[]journal.Entry, error,
) {
	at.out, at.warnings = ImportedAccount{Key: text.Name(p.key), Counts: noCounts()}, nil
	of, under, entries, err := s.openAccount(ctx, tx, d.Connection, t, &at.out)
	if err != nil {
		return nil, err
	}
	in := &taking{
		Statements: s, delivery: d, likely: t.Likely, account: of, under: under, balances: fileBalances{}, at: at,
		entries: entries,
	}
	if in.reports, err = reportedOf(ctx, tx, under); err != nil {
		return nil, err
	}
	if in.reports != nil {
		if in.under, err = s.accounts.UnderFiles(ctx, tx, of); err != nil {
			return nil, err
		}
	}
	for _, f := range p.files {
		if err := in.takeFile(ctx, tx, f); err != nil {
			return nil, err
		}
	}
	closings, err := in.state(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	at.warnings = append(at.warnings, in.lost.warnings()...)
	out := &at.out
	at.counts.Added, at.counts.Unchanged = at.counts.Added+out.Added, at.counts.Unchanged+out.Duplicates+out.Likely
	at.counts.Modified += out.Modified + out.Restored
	out.Opening, out.Closing = p.ends()
	out.Proof, err = s.accounts.ProveStatement(ctx, tx, &of, p.currency(), account.Statement{Closings: closings})
	at.warnings = append(at.warnings, p.stateBefore(out.Proof, in.sum)...)
	return in.entries, err
}

// takeFile takes the rows of one file.
func (in *taking) takeFile(ctx context.Context, tx pg.Tx, file statement.File) error {
	ids, err := identify(ctx, tx, in.account, file, nil)
	if err != nil {
		return err
	}
	for row, err := range file.Rows(ctx) {
		if no, is := errors.AsType[*statement.RowError](err); is {
			in.at.out.leaveOut(no)
			continue
		}
		if err == nil {
			err = in.takeRow(file, row, ids.Next(row))
		}
		if err == nil && len(in.part.rows) == importPart {
			err = in.flush(ctx, tx)
		}
		if err != nil {
			return err
		}
	}
	if err := in.flush(ctx, tx); err != nil {
		return err
	}
	return in.correct(ctx, tx, file)
}

func (in *taking) takeRow(file statement.File, row statement.Row, is statement.Identity) error {
	entry, err := fromFile(in.account, row, file.DefaultCurrency, is.Key)
	if err != nil {
		return err
	}
	if is.Covered {
		in.at.out.Duplicates++
		return nil
	}
	if (is.Likely || (!is.Stored || is.Gone) && in.reports.awaits(row)) && !in.likely {
		in.balances.add(entry.Date, entry.Currency, row)
		in.at.out.Likely++
		return nil
	}
	if is.Was != "" {
		in.part.was, in.part.now = append(in.part.was, is.Was), append(in.part.now, is.Key)
	}
	if in.under != in.account {
		entry.Under = &in.under
	}
	in.balances.add(entry.Date, entry.Currency, row)
	if row.Currency == file.Currency {
		if in.sum, err = in.sum.Add(row.Amount.Total()); err != nil {
			return err
		}
	}
	if row.Extra != nil && row.Extra.Replaces != "" {
		in.replacing = append(in.replacing, replacement{row.Extra.Replaces, entry, row.Number, is.Stored})
		return nil
	}
	if row.Extra != nil && len(row.Extra.Parts) > 1 {
		if in.part.parts == nil {
			in.part.parts = map[string][]statement.Part{}
		}
		in.part.parts[entry.ProviderID] = row.Extra.Parts
	}
	if !is.Stored {
		in.lost.note(row, in.at.names)
	}
	in.part.numbers = append(in.part.numbers, row.Number)
	in.part.rows = append(in.part.rows, entry)
	return nil
}

// flush stores the rows so far.
func (in *taking) flush(ctx context.Context, tx pg.Tx) error {
	if in.OnlyNew {
		if err := in.part.onlyNew(ctx, tx, in.account, in.under, &in.at.out.Counts); err != nil {
			return err
		}
	}
	if err := in.books.Rekey(ctx, tx, in.account, in.part.was, in.part.now); err != nil {
		return err
	}
	in.at.inserted = nil
	made, err := in.Statements.part(ctx, tx, in.part.rows, in.at)
	in.entries = append(in.entries, made...)
	if err == nil {
		err = in.divide(ctx, tx)
	}
	in.part.clear()
	return err
}

// state stores the balances at the ends of days that the file states, and returns them.
func (in *taking) state(ctx context.Context, tx pg.Tx, p portion) ([]bank.Closing, error) {
	currency, err := currencyOf(ctx, tx, in.account)
	if err != nil {
		return nil, err
	}
	for _, point := range p.Points {
		day, err := pg.ParseDate(point.Stands)
		if err != nil {
			continue
		}
		if err := in.accounts.Unstate(ctx, tx, in.account, day, point.Amount); err != nil {
			return nil, err
		}
	}
	closings := in.balances.closings(currency)
	if p.Currency == "" || p.Currency == currency {
		closings = append(closings, p.closings()...)
	}
	return closings, in.accounts.State(ctx, tx, in.account, account.ByStatement, closings)
}

// remember notes the account that a portion went into, so that the same account is suggested for
// the next file.
func remember(into map[string]id.ID, p portion, account id.ID) map[string]id.ID {
	kind, number := p.numberOf()
	if number == "" {
		return into
	}
	into = maps.Clone(into)
	if into == nil {
		into = map[string]id.ID{}
	}
	into[digest(kind, number)] = account
	return into
}

// rememberInto stores the accounts that the files of a connection went into.
func (s *Statements) rememberInto(ctx context.Context, tx pg.Tx, connection id.ID, into map[string]id.ID) error {
	if len(into) == 0 {
		return nil
	}
	stored, err := pg.Value[[]byte](ctx, tx, `select statement_options from connection where id = $1`, connection)
	if err != nil || stored == nil {
		return err
	}
	var last reading
	if err := json.Unmarshal(stored, &last); err != nil {
		return err
	}
	if maps.Equal(last.Into, into) {
		return nil
	}
	all := maps.Clone(into)
	maps.Copy(all, last.Into) // including those of an import meanwhile
	for _, number := range slices.Collect(maps.Keys(into)) {
		all[number] = into[number]
	}
	last.Into = all
	raw, err := json.Marshal(last)
	if err != nil {
		return err
	}
	return s.connections.RememberOptions(ctx, tx, connection, raw)
}

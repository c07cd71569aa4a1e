package statement

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank/statement/all"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
	"coffer/internal/sim/household"
	"coffer/internal/sim/statements"
)

// generated returns the accounts in euros of a generated household.
func generated(seed uint64, rows int) (out []statements.Statement) {
	for _, s := range statements.Of(household.New(household.Options{
		Seed: seed, Transactions: rows, Years: 1, Purposes: true,
	})) {
		if s.Currency == "EUR" {
			out = append(out, s)
		}
	}
	return out
}

func written(t *testing.T, format string, of ...statements.Statement) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := statements.Write(&b, format, of); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asWritten returns the options for generated files. A few days do not show which number of a date
// is the month, and a file without a currency is in euros.
func asWritten(format string) *FileOptions {
	o := &FileOptions{DefaultCurrency: new(money.Currency("EUR"))}
	if format == "qif" {
		o.DateFormat = new("MM/DD/YYYY")
	}
	return o
}

// hashOf returns a hash of everything that an account contains, including its rows' ids.
func (b *branch) hashOf(t *testing.T, account id.ID) (hash string, rows int) {
	t.Helper()
	all, err := pg.Values[string](t.Context(), b.db, `
		select concat_ws('|', t.provider_id, t.date, t.amount, t.currency, d.name, d.detail, t.deleted_at is not null)
		from transaction t join descriptor d on d.id = t.descriptor_id where t.account_id = $1 order by 1`, account)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(all, "\n")))), len(all)
}

// into creates an account for each account of the file.
func (b *branch) into(t *testing.T, in ImportFile) ImportFile {
	t.Helper()
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: in.File, Options: in.Options})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range p.Accounts {
		in.Accounts = append(in.Accounts, AccountChoice{
			Key: a.Key.Plain(), Create: &AccountCreate{Name: fmt.Sprint("Account ", i)},
		})
	}
	return in
}

// In every format a household's rows are stored once: a second import adds nothing and changes
// nothing.
func TestGeneratedTwice(t *testing.T) {
	t.Parallel()
	of := generated(7, 200)
	want := int64(0)
	for _, s := range of {
		want += int64(len(s.Rows))
	}
	b := newBranch(t)
	for _, format := range statements.Formats {
		in := b.into(t, ImportFile{ID: b.bucket(t), File: written(t, format, of...), Options: asWritten(format)})
		if first := b.file(t, in); first.Added != want || first.RowsRejected != 0 || first.Likely != 0 {
			t.Fatalf("%s: %+v, want %d rows", format, first.Counts, want)
		}
		before := b.canonical(t)
		if again := b.file(t, in); again.changed() || again.Duplicates != want || again.ChangeID != nil {
			t.Errorf("%s again: %+v", format, again.Counts)
		}
		if b.canonical(t) != before {
			t.Errorf("%s: the second import changed the books", format)
		}
	}
}

// cutTo returns the rows of some days, counted from the first day.
func cutTo(t *testing.T, of statements.Statement, from, days int) statements.Statement {
	t.Helper()
	out := of
	out.From, out.To, out.Rows = of.From.AddDate(0, 0, from), of.From.AddDate(0, 0, from+days), nil
	sum := of.Opening.Cents()
	for _, r := range of.Rows {
		if !r.Day.Before(out.From) && !r.Day.After(out.To) {
			out.Rows = append(out.Rows, r)
		}
	}
	for _, r := range of.Rows {
		if r.Day.Before(out.From) {
			sum -= r.Amount.Cents()
		}
	}
	out.Opening = cents(t, sum)
	for _, r := range out.Rows {
		sum -= r.Amount.Cents()
	}
	out.Closing = cents(t, sum)
	return out
}

// Overlapping files, imported in any order, lead to the same books as one file of all days, in
// every format.
func TestCutsIntoBooks(t *testing.T) {
	t.Parallel()
	var of statements.Statement
	for _, s := range generated(11, 500) {
		if s.Type == "depository" && len(s.Rows) > len(of.Rows) {
			of = s
		}
	}
	of = cutTo(t, of, int(of.Rows[0].Day.Sub(of.From).Hours()/24), 90)
	b := newBranch(t)
	for n, format := range statements.Formats {
		r := rand.New(rand.NewPCG(uint64(n), 55))
		put := func(at string, s statements.Statement) id.ID {
			t.Helper()
			return b.file(t, ImportFile{
				ID: at, File: written(t, format, s), Options: asWritten(format), Account: &FileAccount{Name: "Giro", Currency: "EUR"},
			}).AccountID
		}
		whole, rows := b.hashOf(t, put(b.bucket(t), of))
		var parts []statements.Statement
		for at := 0; at <= 90; {
			length := 10 + r.IntN(20)
			if s := cutTo(t, of, at, min(length, 90-at)); len(s.Rows) > 0 {
				parts = append(parts, s)
			}
			at += 1 + r.IntN(length)
		}
		r.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		at := b.bucket(t)
		var into id.ID
		for _, p := range parts {
			into = put(at, p)
		}
		if got, count := b.hashOf(t, into); got != whole || rows != len(of.Rows) {
			t.Errorf("%s: %d rows from %d cuts, %d from the whole file of %d", format, count, len(parts), rows, len(of.Rows))
		}
	}
}

// second returns another instance on the same database.
func (b *branch) second(t *testing.T) *branch {
	t.Helper()
	files := category.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	books, jobs := ledger.New(b.db, files), job.New(b.db, nil)
	rules, accounts := rulebook.New(b.db, files, books, jobs), account.New(b.db)
	f := connection.New(connection.Config{
		DB: b.db, Auth: auth.New(b.db), Accounts: accounts, Books: books, Rules: rules, Jobs: jobs,
	})
	o := &branch{New(b.db, f, accounts, books, rules, jobs, all.Formats)}
	jobs.Add(o.Kinds()...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { _ = jobs.Run(ctx) })
	t.Cleanup(func() { stop(); working.Wait() })
	return o
}

// If two instances import one file at the same time, its rows are added once.
func TestOneFileAtTwoInstances(t *testing.T) {
	t.Parallel()
	of := generated(7, 200)
	want := int64(0)
	for _, s := range of {
		want += int64(len(s.Rows))
	}
	b := newBranch(t)
	both := []*branch{b, b.second(t)}
	for _, format := range statements.Formats {
		in := b.into(t, ImportFile{ID: b.bucket(t), File: written(t, format, of...), Options: asWritten(format)})
		jobs, errs := make([]job.Job, 4), make([]error, 4)
		var running sync.WaitGroup
		for i := range jobs {
			running.Go(func() {
				o := both[i%2]
				errs[i] = o.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
					jobs[i], err = o.ImportFile(t.Context(), tx, in)
					return err
				})
				for errs[i] == nil && !jobs[i].Ended() {
					jobs[i], errs[i] = o.jobs.Wait(t.Context(), jobs[i].ID, 10*time.Second)
				}
			})
		}
		running.Wait()
		var added int64
		for i, j := range jobs {
			if errs[i] != nil || j.State != job.Succeeded {
				t.Fatalf("%s: %+v, %v", format, j, errs[i])
			}
			added += result(t, j).Added
		}
		if added != want {
			t.Errorf("%s: %d rows were added, want %d", format, added, want)
		}
	}
	n, err := pg.Value[int64](t.Context(), b.db, `select count(*) from transaction`)
	if err != nil || n != want*int64(len(statements.Formats)) {
		t.Errorf("%d rows are stored, %v", n, err)
	}
}

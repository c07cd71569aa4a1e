package machine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
	"pgregory.net/rapid"
)

// A run is one sequence at work.
type run struct {
	*house
	*model
	begin   beginning
	byHand  int                 // rows that were entered by hand
	atBank  map[string]*bankRow // by id
	rules   int
	files   []delivered            // that were imported
	listed  map[*source][]*payment // what the last file into an account of the bank listed
	stuck   []string               // imports whose undo could not be undone
	left    []string               // merges and removals that an undo left as a whole
	away    map[string]bool        // rows of files that an undo left because the bank has reported them
	story   []string               // what was done
	stepped func()                 // counts
}

// A bankRow is a row at the bank.
type bankRow struct {
	id    string
	of    *source
	what  *payment
	cents int64
	there bool
	told  int64 // the amount at the last sync; 0 if it was not there
}

// known are the codes of the contract that a step may be refused with.
var known = slices.DeleteFunc(errs.Codes(), func(c errs.Code) bool {
	return c == errs.InternalError || c == errs.Unavailable || c == errs.RateLimited
})

// do makes a call as a step of the sequence, waits for the jobs that it started, and checks what is
// true of every answer: a refusal has a code of the contract, and the service has no fault.
func (r *run) do(t *rapid.T, who, what, method, path string, body any) answer {
	t.Helper()
	a := r.call(who, method, path, body)
	r.settle(t)
	r.tellf(t, "%s: %s: %s", who, what, a.outcome())
	if a.status >= http.StatusInternalServerError {
		r.breaks(t, "the service has no fault", "%s %s: %d %s\n%s", method, path, a.status, a.body, r.log)
	}
	if a.Error != nil && !slices.Contains(known, errs.Code(a.Error.Code)) {
		r.breaks(t, "a refusal is one of the contract", "%s %s: %d %s\n%s", method, path, a.status, a.body, r.log)
	}
	if a.status >= http.StatusBadRequest && a.Error == nil {
		r.breaks(t, "a refusal has a code", "%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// tellf adds a line to the story of the sequence.
func (r *run) tellf(t *rapid.T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	r.story = append(r.story, line)
	t.Log(line)
}

// breaks ends a sequence that broke a law. The details are printed beside it: a shorter sequence
// breaks the same law, maybe in another way.
func (r *run) breaks(t *rapid.T, law, how string, args ...any) {
	t.Helper()
	r.tellf(t, "law: %s: %s", law, fmt.Sprintf(how, args...))
	t.Fatalf("law: %s", law)
}

// query returns rows, and fails the sequence if it cannot.
func query[T any](t *rapid.T, r *run, sql string, args ...any) []T {
	t.Helper()
	rows, err := pg.All[T](context.Background(), r.DB, sql, args...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return rows
}

// anybody draws who acts.
func anybody(t *rapid.T) string { return rapid.SampledFrom([]string{ada, bob, agent}).Draw(t, "who") }

// one draws one of several, and skips the step if there is none.
func one[T any](t *rapid.T, what string, of []T) T {
	if len(of) == 0 {
		t.Skip("there is no " + what)
	}
	return of[rapid.IntRange(0, len(of)-1).Draw(t, what)]
}

// An account is an account in the books.
type account struct {
	ID   string `db:"id"`
	Name string `db:"name"`
}

func (r *run) accounts(t *rapid.T) []account {
	return query[account](t, r, `select id::text, name from account where deleted_at is null
		and name not like 'Spare%' order by name, id`)
}

// some draws the accounts of a step: mostly those of files, which report the same payments.
func (r *run) some(t *rapid.T) []account {
	all := r.accounts(t)
	few := slices.DeleteFunc(slices.Clone(all), func(a account) bool {
		return !slices.ContainsFunc(r.fromFiles(), func(s *source) bool { return s.name == a.Name })
	})
	if len(few) < 2 || rapid.IntRange(0, 3).Draw(t, "any account") == 3 {
		return all
	}
	return few
}

// two draws two accounts.
func (r *run) two(t *rapid.T) (account, account) {
	pool := r.some(t)
	from := one(t, "account", pool)
	return from, one(t, "into", without(pool, from))
}

func without(of []account, a account) []account {
	return slices.DeleteFunc(slices.Clone(of), func(o account) bool { return o == a })
}

// A row is a transaction that is not part of another.
type row struct {
	ID      string `db:"id"`
	Account string `db:"account"`
	Name    string `db:"name"`
	Origin  string `db:"origin"`
	Cents   int64  `db:"cents"`
	Split   bool   `db:"is_split"`
}

func (w row) String() string { return fmt.Sprintf("%s of %s in %s", w.Name, cents(w.Cents), w.Account) }

// wholes are the rows of the books for which the condition holds.
func (r *run) wholes(t *rapid.T, condition string) []row {
	return query[row](t, r, `
		select t.id::text, a.name as account, d.name, t.origin, (t.amount * 100)::bigint as cents, t.is_split
		from transaction t join account a on a.id = t.account_id join descriptor d on d.id = t.descriptor_id
		where t.origin <> 'part' and `+condition+` order by a.name, t.date, d.name, t.amount, t.id`)
}

// A change is a change by a step, not one that the sequence began with.
type change struct {
	ID      string `db:"id"`
	Summary string `db:"summary"`
	Cause   string `db:"cause"`
	Root    string `db:"root"` // what it does or undoes in the end
}

// changes are the newest that match the condition, newest first.
func (r *run) changes(t *rapid.T, condition string, most int) []change {
	return query[change](t, r, `select c.id::text, c.summary, c.cause, coalesce(c.root, c.id)::text as root
		from change c where c.seq > $1 and `+condition+` order by c.seq desc limit $2`, r.begin.change, most)
}

// payments draws some of a source's rows.
func payments(t *rapid.T, s *source) []*payment { return some(t, s.rows) }

func some(t *rapid.T, of []*payment) []*payment {
	var out []*payment
	mask := rapid.IntRange(1, 1<<len(of)-1).Draw(t, "rows")
	for i, p := range of {
		if mask>>i&1 == 1 {
			out = append(out, p)
		}
	}
	return out
}

func names(of []*payment) string {
	var out []string
	for _, p := range of {
		out = append(out, p.name)
	}
	return strings.Join(out, ", ")
}

// fromFiles are the sources whose rows come in files.
func (r *run) fromFiles() []*source {
	return slices.DeleteFunc(slices.Clone(r.sources), func(s *source) bool { return s.bank != "" })
}

// banks are the sources that sync.
func (r *run) banks() []*source {
	return slices.DeleteFunc(slices.Clone(r.sources), func(s *source) bool { return s.bank == "" })
}

// doubt takes from the model what it was sure of, of the rows that changes deleted or restored.
func (r *run) doubt(t *rapid.T, changes ...string) {
	type amount struct {
		Cents int64 `db:"cents"`
	}
	for _, a := range query[amount](t, r, `select distinct (t.amount * 100)::bigint as cents from entry e
		join transaction t on t.id = e.subject_id where e.change_id = any($1::text[]::uuid[]) and e.subject = 'transaction'
			and e.field = 'deleted'`, changes) {
		if p := r.payment(a.Cents); p != nil {
			r.sure[p] = false
		}
	}
}

// payment is the one of that amount.
func (r *run) payment(n int64) *payment {
	for _, s := range r.sources {
		for _, p := range s.rows {
			if p.cents == n || p.later == n {
				return p
			}
		}
	}
	return nil
}

// inFile is the day of a payment in files of the bank's account: its own, or one beside it.
func (s *source) inFile(p *payment) string { return day(p.date, slices.Index(s.rows, p)%3-1) }

// day adds days to a date.
func day(date string, n int) string {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return d.AddDate(0, 0, n).Format(time.DateOnly)
}

// put adds a row to the bank.
func (r *run) put(b *bankRow) {
	d, err := time.Parse(time.DateOnly, b.what.date)
	if err != nil {
		panic(err) // a test's own mistake
	}
	b.there = true
	r.book.Add(banks.Row{
		ID: b.id, AccountID: b.of.bank, Date: d, Amount: amountOf(b.cents), Currency: "EUR", Name: nameOf(b.what.name),
		Channel: "in store",
	})
}

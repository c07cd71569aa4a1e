package recurring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"github.com/jackc/pgx/v5"
)

// AfterSync looks for recurring payments among new transactions, as the last step of a sync or an
// import.
func (p *Payments) AfterSync(ctx context.Context, run *job.Run, _ bool) error {
	return run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		return job.Step{}, p.Sweep(ctx, tx)
	})
}

// Tasks returns the timed work of recurring payments. Changes outside of syncs, such as a link or a
// revert, are swept a minute later.
func (p *Payments) Tasks() []schedule.Task {
	return []schedule.Task{{
		Name: "pattern", Fault: "recurring payments not updated",
		Next: func(ctx context.Context, q pg.Querier) (time.Duration, error) {
			ms, err := pg.Value[*int64](ctx, q, `
				select (select ceil(extract(epoch from noted_at + interval '1 minute' - clock_timestamp()) * 1000)::bigint
					from form_due order by id limit 1)`)
			return schedule.In(ms), err
		},
		Do: func(ctx context.Context) error {
			return p.db.InTx(ctx, func(tx pg.Tx) error { return p.Sweep(ctx, tx) })
		},
	}}
}

// sweepLock is the key of the advisory lock that lets only one sweep run at a time, on any server.
const sweepLock = 0x72656375

// Sweep looks for recurring payments among the transactions that were written, changed, deleted or
// restored since the last sweep, and stores the differences. If there are no such transactions, it
// reads nothing.
func (p *Payments) Sweep(ctx context.Context, tx pg.Tx) error {
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return err
	}
	forms, err := p.books.TakeForms(ctx, tx)
	if err != nil || len(forms) == 0 {
		return err
	}
	// After a large import, every transaction is read. That can take longer than the normal limit
	// of a statement.
	if _, err := pg.Exec(ctx, tx, `select set_config('statement_timeout', '15min', true)`); err != nil {
		return err
	}
	// Handle one account at a time, so that only its payments are in memory.
	byAccount := func(a, b ledger.Form) int { return a.AccountID.Compare(b.AccountID) }
	slices.SortFunc(forms, byAccount)
	known := &Wordings{}
	for len(forms) > 0 {
		n := 1
		for n < len(forms) && forms[n].AccountID == forms[0].AccountID {
			n++
		}
		a := &accountSweep{account: forms[0].AccountID, forms: map[id.Key]bool{}, many: p.many, wordings: known}
		for _, f := range forms[:n] {
			a.forms[f.Form] = false
		}
		if err := a.run(ctx, tx); err != nil {
			return err
		}
		forms = forms[n:]
	}
	_, err = pg.Exec(ctx, tx, `insert into sighting_due (noted_at) select clock_timestamp()
		where not exists (select from sighting_due)`)
	return err
}

// TakeSwept reports whether a sweep ran since the last call, so that findings must be counted
// again. No sweep can run until the transaction ends.
func TakeSwept(ctx context.Context, tx pg.Tx) (bool, error) {
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return false, err
	}
	n, err := pg.Exec(ctx, tx, `delete from sighting_due`)
	return n > 0, err
}

// An accountSweep checks some forms of one account.
type accountSweep struct {
	account  id.ID
	forms    map[id.Key]bool // the forms to check; true once their payments are read
	many     int             // the number of forms from which on the whole account is read
	wordings *Wordings
	rows     map[Group]*[]Payment
	known    []stored
	found    []Series
}

// Wordings holds the form and the payee of each wording. A sweep that reads whole accounts reads
// the wordings once, because joining them for each account takes longer.
type Wordings struct{ Of map[int32][2]id.Key }

// Read reads the wordings, unless they were read already.
func (w *Wordings) Read(ctx context.Context, q pg.Querier) error {
	if w.Of != nil {
		return nil
	}
	rows, err := q.Query(ctx, `select id, form, coalesce(payee, form) from descriptor where form is not null`)
	if err != nil {
		return fmt.Errorf("read wordings: %w", err)
	}
	w.Of = map[int32][2]id.Key{}
	var u int32
	var form, payee int64
	_, err = pgx.ForEachRow(rows, []any{&u, &form, &payee}, func() error {
		w.Of[u] = [2]id.Key{id.Key(form), id.Key(payee)}
		return nil
	})
	return err
}

// A stored is the record of a series.
type stored struct {
	ID        id.ID   `db:"id"`
	Currency  string  `db:"currency"`
	Direction string  `db:"direction"`
	Cadence   string  `db:"cadence"`
	Party     id.Key  `db:"party"`
	Forms     []int64 `db:"forms"`
	State     string  `db:"state"`
	Seed      *id.ID  `db:"seed_id"`
	Taught    bool    `db:"taught"`
	Rows      []id.ID `db:"rows"`
	Deleted   bool    `db:"deleted"`
}

func (a *accountSweep) run(ctx context.Context, tx pg.Tx) error {
	var err error
	a.known, err = pg.All[stored](ctx, tx, `
		select r.id, r.currency, r.direction, r.cadence, r.party, r.forms, r.state, r.seed_id,
			r.seed_id is not null as taught,
			array(select w.transaction_id from recurring_row w where w.recurring_id = r.id) as rows,
			r.deleted_at is not null as deleted
		from recurring r where r.account_id = $1 order by r.created_at, r.id for update`, a.account)
	if err != nil {
		return err
	}
	a.rows = map[Group]*[]Payment{}
	for more := true; more; {
		if err := a.read(ctx, tx); err != nil {
			return err
		}
		a.find()
		more = a.widen()
	}
	return a.store(ctx, tx)
}

// manyForms is the number of forms from which on all payments of the account are read. For so many
// forms, looking up each form's payments takes longer.
const manyForms = 1000

const (
	ofAccount = `select t.id, t.currency, t.date - date '1970-01-01', t.amount, t.counterparty_id, t.descriptor_id
		from transaction t
		where t.account_id = $1 and t.deleted_at is null and not t.pending and not t.excluded
			and ` + journal.BankRow + ` and t.amount <> 0`
	// "offset 0" forces the plan: from a form to its wordings, and from those to their
	// transactions.
	ofForms = `select t.id, t.currency, t.date - date '1970-01-01', t.amount, t.counterparty_id, d.form,
		coalesce(d.payee, d.form)
		from unnest($2::bigint[]) f (form) cross join lateral (
			select w.id, w.form, w.payee from descriptor w where w.form = f.form offset 0) d
		cross join lateral (select x.* from transaction x
			where x.descriptor_id = d.id and x.deleted_at is null offset 0) t
		where t.account_id = $1 and not t.pending and not t.excluded and ` + journal.BankRow + `
			and t.amount <> 0`
)

// read reads payments whose forms were not read yet.
func (a *accountSweep) read(ctx context.Context, tx pg.Tx) error {
	var forms []int64
	for f, read := range a.forms {
		if !read {
			forms = append(forms, int64(f))
		}
	}
	if len(forms) == 0 {
		return nil
	}
	var rows pgx.Rows
	var err error
	whole := len(forms) > a.many
	if whole {
		if err := a.wordings.Read(ctx, tx); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, ofAccount, a.account)
	} else {
		rows, err = tx.Query(ctx, ofForms, a.account, forms)
	}
	if err != nil {
		return fmt.Errorf("read payments: %w", err)
	}
	defer rows.Close()
	keys := map[id.ID]id.Key{} // the keys of counterparties
	binary := pg.IsBinary(rows.FieldDescriptions())
	into, at := (*[]Payment)(nil), Group{}
	for rows.Next() {
		r, err := readPayment(rows, binary, whole)
		if err != nil {
			return fmt.Errorf("read a payment: %w", err)
		}
		if whole {
			of, known := a.wordings.Of[r.wording]
			if !known { // newer than the wordings; its form is recorded for the next sweep
				continue
			}
			r.Form, r.Party = of[0], of[1]
		}
		if read, wanted := a.forms[r.Form]; read || !wanted {
			continue
		}
		if r.counterparty != nil {
			k, ok := keys[*r.counterparty]
			if !ok {
				k = id.KeyOf(r.counterparty.String())
				keys[*r.counterparty] = k
			}
			r.Party = k
		}
		g := Group{Account: a.account, Currency: r.currency, Out: r.Cents > 0}
		if into == nil || g != at { // most rows belong to the same group as the row before
			if a.rows[g] == nil {
				a.rows[g] = new([]Payment)
			}
			into, at = a.rows[g], g
		}
		r.Cents = max(r.Cents, -r.Cents)
		*into = append(*into, r.Payment)
	}
	for _, f := range forms {
		a.forms[id.Key(f)] = true
	}
	return rows.Err()
}

// A readRow is a payment together with the columns that determine its group and keys.
type readRow struct {
	Payment
	currency     string
	wording      int32
	counterparty *id.ID
}

// readPayment reads a row of ofForms, or of ofAccount if whole is set. A sweep of all accounts
// reads every transaction, and the driver's scan would take longer than everything else. So it
// decodes the binary wire format if the rows have it.
func readPayment(rows pgx.Rows, binary, whole bool) (p readRow, err error) {
	if !binary {
		var amount money.Amount
		var form, payee int64
		places := []any{&p.ID, &p.currency, &p.Day, &amount, &p.counterparty, &form, &payee}
		if whole {
			places = append(places[:5], &p.wording)
		}
		err = rows.Scan(places...)
		p.Cents, p.Form, p.Party = amount.Cents(), id.Key(form), id.Key(payee)
		return p, err
	}
	w := &pg.Wire{Values: rows.RawValues()}
	p.ID, p.currency, p.Day, p.Cents = w.ID(), w.Text(), int(w.Int32()), w.Amount().Cents()
	p.counterparty = pg.Optional(w, w.ID)
	if whole {
		p.wording = w.Int32()
	} else {
		p.Form, p.Party = id.Key(w.Int64()), id.Key(w.Int64())
	}
	if w.Failed {
		err = errors.New("a column has an unexpected format")
	}
	return p, err
}

// find looks for series among the payments that were read.
func (a *accountSweep) find() {
	var seeds []Seed
	for _, k := range a.known {
		if k.Taught && !k.Deleted {
			seeds = append(seeds, Seed{*k.Seed, k.Cadence})
		}
	}
	a.found = nil
	for g, rows := range a.rows {
		a.found = append(a.found, g.Find(*rows, seeds)...)
	}
	// Maps have no order, and new records are created in the order of this list.
	slices.SortFunc(a.found, func(x, y Series) int {
		return cmp.Or(cmp.Compare(len(y.Rows), len(x.Rows)), byDay(x.Rows[0], y.Rows[0]))
	})
}

// widen adds the forms of stored series that may belong to those found, and reports whether there
// are any new ones. These are series of the same party, and series with a form that is being
// checked. A series depends on all forms of its party.
func (a *accountSweep) widen() bool {
	parties := map[id.Key]bool{}
	for _, f := range a.found {
		parties[f.Party] = true
	}
	more := false
	for _, k := range a.known {
		if !parties[k.Party] && !a.touches(k) {
			continue
		}
		for _, f := range k.Forms {
			if _, known := a.forms[id.Key(f)]; !known {
				a.forms[id.Key(f)], more = false, true
			}
		}
	}
	return more
}

// touches reports whether the series has a form that is being checked.
func (a *accountSweep) touches(k stored) bool {
	return slices.ContainsFunc(k.Forms, func(f int64) bool { _, ok := a.forms[id.Key(f)]; return ok })
}

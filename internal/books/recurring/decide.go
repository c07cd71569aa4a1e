package recurring

import (
	"context"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// definition is the journal's record of a series: the household's decisions about it.
var definition = journal.Definition{
	Subject: journal.Pattern, Table: "recurring", Columns: []string{"state", "name", "source"}, Fits: fits,
}

// fits returns the entries that do not fit: their series is missing, or a person decided about it
// and the caller is not a person.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var out []journal.Skipped
	for _, e := range entries {
		sources, err := pg.Values[*string](ctx, tx, `select source from recurring where id = $1`, e.SubjectID)
		switch {
		case err != nil:
			return nil, err
		case len(sources) == 0:
			out = append(out, journal.Skip(e, "missing"))
		case journal.Held(sources[0], op.ActorOf(ctx), false):
			out = append(out, journal.Skip(e, "held"))
		}
	}
	return out, nil
}

// subject reverts decisions about series. The next sweep then checks the series again.
type subject struct {
	journal.Definition
	payments *Payments
}

// Apply implements journal.Subject.
func (s subject) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	skipped, err := s.Definition.Apply(ctx, tx, entries)
	if err != nil {
		return nil, err
	}
	ids := make([]id.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.SubjectID
	}
	return skipped, s.payments.again(ctx, tx, ids)
}

// again makes the next sweep check these series, by the forms of their wordings (see text.Form).
func (p *Payments) again(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	type row struct {
		Account id.ID   `db:"account_id"`
		Forms   []int64 `db:"forms"`
	}
	rows, err := pg.All[row](ctx, tx, `select account_id, forms from recurring where id = any($1) order by id`, ids)
	for _, r := range rows {
		if err != nil {
			return err
		}
		keys := make([]id.Key, len(r.Forms))
		for i, f := range r.Forms {
			keys[i] = id.Key(f)
		}
		err = p.books.NoteForms(ctx, tx, r.Account, keys)
	}
	return err
}

// PatchRecurring is the input of Patch.
type PatchRecurring struct {
	ID    string          `json:"id" minLength:"1" doc:"Short id or UUID"`
	Name  op.Null[string] `json:"name,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"The household's name for it; null removes it"`
	State *string         `json:"state,omitempty" enum:"auto,confirmed,dismissed" doc:"confirmed: it is one; dismissed: it is not, and is never suggested again; auto: undecided"`
	Force bool            `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// Patch records the household's decision about a series.
func (p *Payments) Patch(ctx context.Context, tx pg.Tx, in PatchRecurring) (Recurring, error) {
	found, err := p.lock(ctx, tx, in.ID)
	if err != nil {
		return Recurring{}, err
	}
	was, err := p.Get(ctx, tx, RecurringRef{found.ID.String()})
	if err != nil {
		return was, err
	}
	if op.Match(ctx, was) != nil { // the caller may have the version from Show
		shown, err := p.Show(ctx, tx, RecurringRef{found.ID.String()})
		if err == nil {
			err = op.Match(ctx, shown)
		}
		if err != nil {
			return was, err
		}
	}
	var sentences []string
	if in.State != nil && *in.State != was.State {
		sentences = append(sentences, map[string]string{
			Auto: "Reset a recurring payment", Confirmed: "Confirmed a recurring payment",
			Dismissed: "Dismissed a recurring payment",
		}[*in.State])
	}
	if in.Name.Set && (in.Name.Value == nil) != (was.Name == nil) ||
		in.Name.Value != nil && was.Name != nil && *in.Name.Value != *was.Name {
		sentences = append(sentences, "Renamed a recurring payment")
	}
	if len(sentences) == 0 {
		return was, nil
	}
	if journal.Held(found.Source, op.ActorOf(ctx), in.Force) {
		return was, errs.New(errs.Conflict,
			"a person decided this recurring payment, so it is locked (held); pass force: true to override")
	}
	err = definition.Recorded(ctx, tx, []id.ID{was.ID},
		journal.Note{Summary: strings.Join(sentences, "; ") + " " + was.ShortID},
		func() ([]journal.Entry, error) {
			_, err := pg.Exec(ctx, tx, `
				update recurring set state = coalesce(@state, state), name = case when @named then @name else name end,
					source = @source, updated_at = clock_timestamp() where id = @id`, pg.Args{
				"id": was.ID, "state": in.State, "named": in.Name.Set, "name": in.Name.Value,
				"source": journal.Source(op.ActorOf(ctx)),
			})
			return nil, err
		})
	if err != nil {
		return was, err
	}
	if err := p.again(ctx, tx, []id.ID{was.ID}); err != nil {
		return was, err
	}
	return p.Get(ctx, tx, RecurringRef{was.ID.String()})
}

type lockedSeries struct {
	ID     id.ID   `db:"id"`
	Source *string `db:"source"`
}

func (p *Payments) lock(ctx context.Context, tx pg.Tx, ref string) (lockedSeries, error) {
	r, err := pg.One[lockedSeries](ctx, tx, `select id, source from recurring where deleted_at is null
		and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	return r, pg.Found(err, "recurring payment", "{recurring.list} lists them")
}

// CreateRecurring is the input of Create.
type CreateRecurring struct {
	TransactionID string  `json:"transaction_id" minLength:"1" doc:"One of its payments: short id or UUID"`
	Cadence       string  `json:"cadence" enum:"weekly,fortnightly,monthly,quarterly,half_yearly,yearly"`
	Name          *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The household's name for it"`
}

// Create records that the payment of this transaction comes back with that cadence, and finds the
// other payments of the series at once.
func (p *Payments) Create(ctx context.Context, tx pg.Tx, in CreateRecurring) (Recurring, error) {
	type seed struct {
		ID      id.ID   `db:"id"`
		Account id.ID   `db:"account_id"`
		Form    *int64  `db:"form"`
		Payee   *int64  `db:"payee"`
		Fits    bool    `db:"fits"`
		Series  *id.ID  `db:"recurring_id"`
		Cadence *string `db:"cadence"`
	}
	// Sweeps and other callers wait for this lock, so that nobody else creates a series with this
	// transaction at the same time.
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return Recurring{}, err
	}
	s, err := pg.One[seed](ctx, tx, `
		select t.id, t.account_id, d.form, d.payee, not t.pending and not t.excluded
			and `+journal.BankRow+` and t.amount <> 0 as fits, r.id as recurring_id, r.cadence
		from transaction t join descriptor d on d.id = t.descriptor_id
			left join recurring_row w on w.transaction_id = t.id
			left join recurring r on r.id = w.recurring_id and r.deleted_at is null
		where t.deleted_at is null and (t.id = $1 or t.short_id = $2)`, pg.RefTo(in.TransactionID).IDArgs()...)
	if err != nil {
		return Recurring{}, pg.Named(err, "transaction_id", "transaction", "{transaction.list} lists them")
	}
	if !s.Fits || s.Form == nil {
		return Recurring{}, errs.New(errs.Conflict, "this transaction can't be a recurring payment: it must "+
			"be posted, not excluded and not part of a split")
	}
	if s.Series != nil && *s.Cadence == in.Cadence {
		patch := PatchRecurring{ID: s.Series.String(), State: new(Confirmed)}
		if in.Name != nil {
			patch.Name = op.Null[string]{Set: true, Value: in.Name}
		}
		return p.Patch(ctx, tx, patch)
	}
	full, err := pg.Value[bool](ctx, tx, `select count(*) >= $1 from recurring where deleted_at is null`, mostSeries)
	if err != nil {
		return Recurring{}, err
	}
	if full {
		return Recurring{}, errFull()
	}
	var made id.ID
	err = pg.Redraw(ctx, tx, "recurring_short_id", func(tx pg.Tx) error {
		made = id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
				first_date, last_id, last_date, occurrences, next_date, sure, seed_id, state, name, source)
			select @id, @short, t.account_id, t.currency, case when t.amount > 0 then 'out' else 'in' end, @cadence, @party,
				array[@form::bigint], true, t.amount, t.date, t.id, t.date, 1, t.date, false, t.id, 'confirmed', @name, @source
			from transaction t where t.id = @seed`, pg.Args{
			"id": made, "short": made.Short(), "cadence": in.Cadence, "party": s.Payee, "form": s.Form, "name": in.Name,
			"source": journal.Source(op.ActorOf(ctx)), "seed": s.ID,
		})
		return err
	})
	if err != nil {
		return Recurring{}, err
	}
	if err := p.again(ctx, tx, []id.ID{made}); err != nil {
		return Recurring{}, err
	}
	if err := p.Sweep(ctx, tx); err != nil {
		return Recurring{}, err
	}
	now, err := definition.Read(ctx, tx, []id.ID{made})
	if err != nil {
		return Recurring{}, err
	}
	if _, err := journal.Record(ctx, tx, journal.Note{},
		[]journal.Entry{{
			Subject: journal.Pattern, SubjectID: made, Field: journal.FieldRecord, After: now[made],
			AfterSource: new(journal.Source(op.ActorOf(ctx))),
		}}); err != nil {
		return Recurring{}, err
	}
	return p.Get(ctx, tx, RecurringRef{made.String()})
}

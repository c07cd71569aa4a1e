// Package target stores how much the household plans to spend on a category in a month. It must not
// know what was spent. Package analytics calculates that from the transactions each time, and also
// what rolled over and what remains.
package target

import (
	"context"

	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// maxTargets is the maximum number of targets of a household.
const maxTargets = 500

// Targets are the targets of one household.
type Targets struct {
	categories *category.Categories
	totals     *analytics.Totals
}

// New returns Targets that use those categories and totals.
func New(f *category.Categories, totals *analytics.Totals) *Targets { return &Targets{f, totals} }

// Ops returns the operations on targets.
func (t *Targets) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "target.list", Route: "GET /targets",
			Summary: "Lists monthly targets (budgets) with spent and remaining amounts.",
		}, t.totals.Targets),
		op.Writing(op.Spec{
			Name: "target.create", Route: "POST /targets", Summary: "Creates a monthly target (budget) for a " +
				"category.",
		}, t.Create),
		op.Reading(op.Spec{Name: "target.get", Route: "GET /targets/{id}", Summary: "Shows one target."}, t.Get),
		op.Writing(op.Spec{
			Name: "target.update", Route: "PATCH /targets/{id}",
			Summary: "Changes a target's amount, rollover or months.",
		}, t.Patch),
		op.Writing(op.Spec{Name: "target.delete", Route: "DELETE /targets/{id}", Summary: "Deletes a target."},
			t.Delete),
	}
}

// A Ref names a target.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The target's UUID or short id"`
}

func noTarget(err error) error { return pg.Found(err, "target", "{target.list} lists them") }

// Get returns one target.
func (t *Targets) Get(ctx context.Context, q pg.Querier, in Ref) (analytics.Target, error) {
	out, err := pg.One[analytics.Target](ctx, q, analytics.TargetRows+` and (t.id = $1 or t.short_id = $2)`,
		pg.RefTo(in.ID).IDArgs()...)
	return out, noTarget(err)
}

// lock is Get, but it also locks the target until the transaction ends.
func (t *Targets) lock(ctx context.Context, tx pg.Tx, ref string) (analytics.Target, error) {
	u, err := pg.Value[id.ID](ctx, tx, `select id from target where deleted_at is null
		and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return analytics.Target{}, noTarget(err)
	}
	return t.Get(ctx, tx, Ref{u.String()})
}

// CreateTarget is the input of Create.
type CreateTarget struct {
	Category   string          `json:"category" minLength:"1" doc:"Slug, short id or UUID of an expense category; a primary includes its subcategories" example:"food_and_drink"`
	Amount     money.Amount    `json:"amount" doc:"For each month; more than 0" example:"400.00"`
	Currency   *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"If omitted, the household's currency, or that of most accounts if none has it"`
	Rollover   bool            `json:"rollover,omitempty" doc:"Roll unspent or overspent amounts into the next month"`
	StartMonth *string         `json:"start_month,omitempty" pattern:"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$" hint:"be a month such as 2026-01" doc:"The first month; this month if omitted" example:"2026-01"`
	EndMonth   *string         `json:"end_month,omitempty" pattern:"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$" hint:"be a month such as 2026-12" doc:"The last month; no end if omitted"`
}

// Create creates a target.
func (t *Targets) Create(ctx context.Context, tx pg.Tx, in CreateTarget) (analytics.Target, error) {
	category, err := t.categories.Keep(ctx, tx, "category", in.Category)
	if err != nil {
		return analytics.Target{}, err
	}
	if category.Kind != "expense" {
		return analytics.Target{}, errs.Field("category", "conflict",
			"must be an expense category, because targets limit spending; this category's kind is %s",
			category.Kind)
	}
	d, err := pg.One[struct {
		Currency money.Currency `db:"currency"`
		Month    string         `db:"month"`
		Targets  int            `db:"targets"`
	}](ctx, tx, `select coalesce((select a.currency from account a where a.deleted_at is null and not a.hidden
			group by a.currency order by (a.currency = default_currency) desc, count(*) desc, a.currency limit 1),
			default_currency) as currency, to_char(now() at time zone time_zone, 'YYYY-MM') as month,
		(select count(*) from target where deleted_at is null) as targets from setting`)
	if err != nil {
		return analytics.Target{}, err
	}
	if d.Targets >= maxTargets {
		return analytics.Target{}, errs.New(errs.Conflict, "limit of %d targets reached; delete one first", maxTargets)
	}
	if in.Currency == nil {
		in.Currency = &d.Currency
	}
	if in.StartMonth == nil {
		in.StartMonth = &d.Month
	}
	if err := sensible(in.Amount, *in.StartMonth, in.EndMonth); err != nil {
		return analytics.Target{}, err
	}
	var newID id.ID
	err = pg.Redraw(ctx, tx, "target_short_id", func(tx pg.Tx) error {
		newID = id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into target (id, short_id, category_id, currency, amount, rollover, start_month, end_month)
			values (@id, @short, @category, @currency, @amount, @rollover, to_date(@start, 'YYYY-MM'),
				to_date(@end::text, 'YYYY-MM'))`, pg.Args{
			"id": newID, "short": newID.Short(), "category": category.ID, "currency": in.Currency,
			"amount": in.Amount, "rollover": in.Rollover, "start": in.StartMonth, "end": in.EndMonth,
		})
		return err
	})
	if pg.Violates(err, "target_category") {
		return analytics.Target{}, errs.New(errs.Conflict,
			"the category %s already has a target in %s; change that one", category.Slug, *in.Currency)
	}
	if err != nil {
		return analytics.Target{}, err
	}
	now, err := definition.Read(ctx, tx, []id.ID{newID})
	if err != nil {
		return analytics.Target{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{{
		Subject: journal.Target, SubjectID: newID, Field: journal.FieldRecord, After: now[newID],
		AfterSource: new(journal.Source(op.ActorOf(ctx))),
	}})
	if err != nil {
		return analytics.Target{}, err
	}
	return t.Get(ctx, tx, Ref{newID.String()})
}

// sensible returns an error for an amount that is not positive, or an end before the start.
func sensible(amount money.Amount, start string, end *string) error {
	if amount.IsNeg() || amount.IsZero() {
		return errs.Field("amount", "range", "must be more than 0; to stop a target, set end_month or delete "+
			"it")
	}
	if end != nil && *end < start {
		return errs.Field("end_month", "conflict", "must not be before start_month")
	}
	return nil
}

// PatchTarget is the input of Patch.
type PatchTarget struct {
	ID         string          `json:"id" minLength:"1" doc:"The target's UUID or short id"`
	Amount     *money.Amount   `json:"amount,omitempty" doc:"For each month; more than 0" example:"450.00"`
	Rollover   *bool           `json:"rollover,omitempty" doc:"Roll unspent or overspent amounts into the next month"`
	StartMonth *string         `json:"start_month,omitempty" pattern:"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$" hint:"be a month such as 2026-01" doc:"The first month"`
	EndMonth   op.Null[string] `json:"end_month,omitzero" pattern:"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$" hint:"be a month such as 2026-12" doc:"The last month; null: no end"`
}

// Patch changes a target. The category and the currency cannot change, because they identify the
// target.
func (t *Targets) Patch(ctx context.Context, tx pg.Tx, in PatchTarget) (analytics.Target, error) {
	to, err := t.lock(ctx, tx, in.ID)
	if err != nil {
		return analytics.Target{}, err
	}
	if err := op.Match(ctx, to); err != nil {
		return analytics.Target{}, err
	}
	if in.Amount != nil {
		to.Amount = *in.Amount
	}
	if in.Rollover != nil {
		to.Rollover = *in.Rollover
	}
	if in.StartMonth != nil {
		to.StartMonth = *in.StartMonth
	}
	if in.EndMonth.Set {
		to.EndMonth = in.EndMonth.Value
	}
	if err := sensible(to.Amount, to.StartMonth, to.EndMonth); err != nil {
		return analytics.Target{}, err
	}
	err = definition.Recorded(ctx, tx, []id.ID{to.ID}, journal.Note{},
		func() ([]journal.Entry, error) {
			_, err := pg.Exec(ctx, tx, `
				update target set amount = @amount, rollover = @rollover, start_month = to_date(@start, 'YYYY-MM'),
					end_month = to_date(@end::text, 'YYYY-MM'), updated_at = clock_timestamp() where id = @id`, pg.Args{
				"id": to.ID, "amount": to.Amount, "rollover": to.Rollover, "start": to.StartMonth, "end": to.EndMonth,
			})
			return nil, err
		})
	if err != nil {
		return analytics.Target{}, err
	}
	return t.Get(ctx, tx, Ref{to.ID.String()})
}

// Delete deletes a target and leaves a tombstone. A revert restores the target.
func (t *Targets) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	was, err := t.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	err = definition.Recorded(ctx, tx, []id.ID{was.ID}, journal.Note{},
		func() ([]journal.Entry, error) {
			_, err := pg.Exec(ctx, tx, `update target set deleted_at = clock_timestamp(),
				updated_at = clock_timestamp() where id = $1`, was.ID)
			return nil, err
		})
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

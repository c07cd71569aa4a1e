package finding

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// definition is the journal's record of a finding: the household's decision about it.
var definition = journal.Definition{
	Subject: journal.Finding, Table: "finding", Columns: []string{"state", "source"}, Fits: fits,
}

// fits returns the entries that an agent may not apply, because a person has decided.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	ids := make([]id.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.SubjectID
	}
	type row struct {
		ID     id.ID   `db:"id"`
		Source *string `db:"source"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select id, case when deleted_at is null then source end as source from finding where id = any($1)`, ids)
	if err != nil {
		return nil, err
	}
	sources := make(map[id.ID]*string, len(rows))
	for _, r := range rows {
		sources[r.ID] = r.Source
	}
	var out []journal.Skipped
	for _, e := range entries {
		if source, ok := sources[e.SubjectID]; !ok {
			out = append(out, journal.Skip(e, "missing"))
		} else if journal.Held(source, op.ActorOf(ctx), false) {
			out = append(out, journal.Skip(e, "held"))
		}
	}
	return out, nil
}

// SetFinding is the input of SetFinding.
type SetFinding struct {
	ID    string `json:"id" minLength:"1" doc:"Short id or UUID"`
	State string `json:"state,omitempty" enum:"open,confirmed,dismissed" default:"dismissed" doc:"confirmed: only for a refund, which then counts in its purchase's category, and for a duplicate charge. dismissed: checked, and not shown again"`
	// Exclude is part of the decision, so that one undo reverts both.
	Exclude bool `json:"exclude,omitempty" doc:"With confirmed, for a duplicate charge: also leave the newer transaction out of totals"`
	Force   bool `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// A FindingState is the household's decision about a finding.
type FindingState struct { //nolint:revive // the name of the shape in the contract
	ID        id.ID       `json:"id" db:"id"`
	ShortID   string      `json:"short_id,omitempty" db:"short_id" required:"true"`
	AccountID id.ID       `json:"account_id" db:"account_id"`
	Kind      FindingKind `json:"kind" db:"kind"`
	State     string      `json:"state" db:"state" enum:"open,confirmed,dismissed"`

	Source *string `json:"-" db:"source"`
}

// SetFinding confirms or dismisses a finding, or opens it again.
func (d *Desk) SetFinding(ctx context.Context, tx pg.Tx, in SetFinding) (FindingState, error) {
	f, err := d.findingNamed(ctx, tx, in.ID)
	if err != nil {
		return f, err
	}
	if err := op.Match(ctx, f); err != nil {
		return f, err
	}
	if err := in.check(f.Kind); err != nil || f.State == in.State && !in.Exclude {
		return f, err
	}
	if journal.Held(f.Source, op.ActorOf(ctx), in.Force) {
		return f, errs.New(errs.Conflict,
			"a person decided this finding, so it is locked (held); pass force: true to override")
	}
	summary := map[string]string{
		open: "Reopened a finding", confirmed: "Confirmed a finding", dismissed: "Dismissed a finding",
	}[in.State]
	var about []id.ID
	if in.State == confirmed || f.State == confirmed {
		if about, err = d.about(ctx, tx, f); err != nil {
			return f, err
		}
	}
	was := f.State
	f.State = in.State
	return f, definition.Recorded(ctx, tx, []id.ID{f.ID}, journal.Note{
		Summary: summary + " " + f.ShortID,
	}, func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `
			insert into finding as o (id, short_id, account_id, kind, state, source) values ($1, $2, $3, $4, $5, $6)
			on conflict (id) do update set state = excluded.state, source = excluded.source, deleted_at = null,
				updated_at = clock_timestamp()`,
			f.ID, f.ShortID, f.AccountID, f.Kind, f.State, journal.Source(op.ActorOf(ctx)))
		if err != nil || len(about) < 2 {
			return nil, err
		}
		switch {
		case f.Kind == refund && in.State == confirmed:
			return d.refunded(ctx, tx, about[0], about[1], in.Force)
		case f.Kind == refund && was == confirmed:
			return d.notRefunded(ctx, tx, about[0])
		case in.Exclude:
			return d.leaveOut(ctx, tx, about[0], new(string(duplicate)), in.Force)
		case f.Kind == duplicate && was == confirmed:
			return d.leaveOut(ctx, tx, about[0], nil, in.Force)
		}
		return nil, nil
	})
}

// check returns an error for decisions that a kind of finding does not allow.
func (in SetFinding) check(kind FindingKind) error {
	switch {
	case in.State == confirmed && kind != refund && kind != duplicate:
		return errs.Field("state", "conflict", "can only be confirmed for a refund or a duplicate charge; use "+
			"dismissed for others")
	case in.Exclude && (in.State != confirmed || kind != duplicate):
		return errs.Field("exclude", "conflict", "can only be used with confirmed, for a duplicate charge")
	}
	return nil
}

// about returns the transactions of a finding, the newest first. If the transactions have changed
// since the decision, it may find none.
func (d *Desk) about(ctx context.Context, tx pg.Tx, f FindingState) ([]id.ID, error) {
	from, err := d.oldest(ctx, tx)
	if err != nil {
		return nil, err
	}
	all, err := d.found(ctx, tx, ListFindings{Kind: []FindingKind{f.Kind}, State: f.State, StartDate: &from})
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(all, func(x Finding) bool { return x.ID == f.ID }); at >= 0 {
		return all[at].TransactionIDs, nil
	}
	return nil, nil
}

// oldest returns the first day that lists of findings can include.
func (d *Desk) oldest(ctx context.Context, q pg.Querier) (pg.Date, error) {
	today, err := pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date from setting`)
	return pg.Day(today.Time().AddDate(0, 0, -findingMostDays)), err
}

// findingNamed returns the finding with that id. It looks among stored decisions first and then
// among current findings.
func (d *Desk) findingNamed(ctx context.Context, tx pg.Tx, ref string) (FindingState, error) {
	known, err := pg.All[FindingState](ctx, tx, `
		select id, short_id, account_id, kind, state, source from finding
		where deleted_at is null and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return FindingState{}, err
	}
	if len(known) > 0 {
		return known[0], nil
	}
	from, err := d.oldest(ctx, tx)
	if err != nil {
		return FindingState{}, err
	}
	all, err := d.found(ctx, tx, ListFindings{State: open, StartDate: &from})
	if err != nil {
		return FindingState{}, err
	}
	at := slices.IndexFunc(all, func(f Finding) bool { return f.ShortID == ref || f.ID.String() == ref })
	if at < 0 {
		return FindingState{}, pg.Found(pg.ErrNoRow, "finding", "{finding.list} lists them")
	}
	f := all[at]
	return FindingState{ID: f.ID, ShortID: f.ShortID, AccountID: f.AccountID, Kind: f.Kind, State: open}, nil
}

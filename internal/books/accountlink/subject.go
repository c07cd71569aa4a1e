package accountlink

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A record is a decision about a link, as the journal stores it.
type record struct {
	PrimaryID  id.ID  `json:"primary_id"`
	Kind       string `json:"kind"`
	Confidence string `json:"confidence"`
	Deleted    bool   `json:"deleted"`
}

func (r record) live() bool { return !r.Deleted && r.Confidence != Rejected }

// A stored is the row of a link, deleted or not.
type stored struct {
	ID        id.ID   `db:"id"`
	Primary   id.ID   `db:"primary_id"`
	Mirror    id.ID   `db:"mirror_id"`
	Kind      string  `db:"kind"`
	Verdict   string  `db:"confidence"`
	IsDeleted bool    `db:"deleted"`
	Source    *string `db:"source"`
}

const storedRows = `
	select l.id, l.primary_id, l.mirror_id, l.kind, l.confidence, l.deleted_at is not null as deleted, l.source
	from account_link l`

func (s stored) record() record { return record{s.Primary, s.Kind, s.Verdict, s.IsDeleted} }

// written returns the record as a journal entry stores it. It is nil for a link that was never
// made, or looks like one.
func (s stored) written() *string {
	if s.IsDeleted && s.Source == nil {
		return nil
	}
	return s.record().written()
}

func (r record) written() *string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // the record has only strings and booleans
	}
	return new(string(b))
}

// say changes a link to a record, and records the change.
func (l *Links) say(ctx context.Context, tx pg.Tx, was stored, to record, look bool) error {
	source := journal.Source(op.ActorOf(ctx))
	entry, err := l.turn(ctx, tx, was, to, &source, look)
	if err != nil {
		return err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{entry})
	return err
}

// turn changes a link to a record, and returns the journal entry.
func (l *Links) turn(ctx context.Context, tx pg.Tx, was stored, to record, source *string, look bool) (journal.Entry,
	error,
) {
	if err := noCircle(circles(ctx, tx, was, to)); err != nil {
		return journal.Entry{}, err
	}
	return journal.Entry{
		Subject: journal.AccountLink, SubjectID: was.ID, Field: journal.FieldRecord, Before: was.written(),
		After: to.written(), BeforeSource: was.Source, AfterSource: source,
	}, l.become(ctx, tx, was, to, source, look)
}

// become gives a link its kind, its primary account and its confidence, and updates the
// transactions of its matches accordingly. If other pairs may fit now, in this link or in others, a
// job looks for them. If look is set, the job always runs.
func (l *Links) become(ctx context.Context, tx pg.Tx, was stored, to record, source *string, look bool) error {
	var ids []id.ID
	var err error
	// Pairs belong to one kind of link. Pairs that somebody decided about are kept in case the link
	// gets that kind again.
	if was.Kind != to.Kind {
		if ids, err = dropUndecided(ctx, tx, was.ID, nil); err != nil {
			return err
		}
	}
	if was.Primary != to.PrimaryID {
		if _, err := pg.Exec(ctx, tx, `update link_match set primary_id = mirror_id, mirror_id = primary_id
			where account_link_id = $1`, was.ID); err != nil {
			return err
		}
	}
	_, err = pg.Exec(ctx, tx, `
		update account_link set kind = @kind, primary_id = @primary, mirror_id = case
			when primary_id = @primary then mirror_id else primary_id end, confidence = @confidence, source = @source,
			deleted_at = case when @deleted then coalesce(deleted_at, clock_timestamp()) end,
				updated_at = clock_timestamp()
		where id = @id`, pg.Args{
		"id": was.ID, "kind": to.Kind, "primary": to.PrimaryID, "confidence": to.Confidence,
		"deleted": to.Deleted, "source": source,
	})
	if err != nil {
		return err
	}
	if was.Kind != to.Kind {
		decided, err := refit(ctx, tx, was.ID, nil)
		if err != nil {
			return err
		}
		if err := l.settleSoon(ctx, tx, append(ids, decided...), was.ID); err != nil {
			return err
		}
	}
	if err := l.settleLink(ctx, tx, was.ID); err != nil {
		return err
	}
	switch {
	case to.Deleted:
		return l.touch(ctx, tx, was.ID)
	case look || was.Kind != to.Kind || was.record().live() != to.live():
		return l.enqueue(ctx, tx, was.ID)
	}
	return nil
}

// held returns an error if an agent decides about something that a person has decided.
func held(ctx context.Context, source *string, force bool, what string) error {
	if journal.Held(source, op.ActorOf(ctx), force) {
		return errs.New(errs.Conflict,
			"a person decided this %s, so it is locked (held); pass force: true to override", what)
	}
	return nil
}

// Subjects returns the subjects that reverts restore.
func (l *Links) Subjects() []journal.Subject { return []journal.Subject{subject{l}} }

// subject reverts decisions about links and pairs with their sources, and updates totals.
type subject struct{ links *Links }

func (subject) Kind() string { return journal.AccountLink }

// Lock implements journal.Subject.
func (subject) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from account_link where id = any($1) order by id for update`, ids)
	return err
}

// Apply implements journal.Subject.
func (s subject) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var skipped []journal.Skipped
	for _, ofMatches := range []bool{false, true} { // links first: a pair depends on the new state of its link
		for _, e := range entries {
			if (e.Field == journal.FieldMatch) != ofMatches {
				continue
			}
			set := s.link
			if ofMatches {
				set = s.match
			}
			reason, err := set(ctx, tx, e)
			if err != nil {
				return nil, err
			}
			if reason != "" {
				skipped = append(skipped, journal.Skip(e, reason))
			}
		}
	}
	return skipped, nil
}

// link reverts a link, or returns the reason why that is not possible.
func (s subject) link(ctx context.Context, tx pg.Tx, e journal.Entry) (reason string, err error) {
	found, err := pg.All[stored](ctx, tx, storedRows+` where l.id = $1`, e.SubjectID)
	if err != nil || len(found) == 0 {
		return "missing", err
	}
	was := found[0]
	if journal.Held(was.Source, op.ActorOf(ctx), false) {
		return "held", nil
	}
	to, source := record{was.Primary, was.Kind, Auto, true}, (*string)(nil) // the state of a link that nobody made
	if e.After != nil {
		if err := json.Unmarshal([]byte(*e.After), &to); err != nil {
			return "", fmt.Errorf("read a recorded link: %w", err)
		}
		source = e.AfterSource
	}
	if circle, err := circles(ctx, tx, was, to); circle || err != nil {
		return "conflict", err
	}
	return "", s.links.become(ctx, tx, was, to, source, false)
}

// match reverts the decision about a pair, or returns the reason why that is not possible.
func (s subject) match(ctx context.Context, tx pg.Tx, e journal.Entry) (reason string, err error) {
	type row struct {
		side
		Source *string `db:"source"`
	}
	found, err := pg.All[row](ctx, tx, `select primary_id, mirror_id, source from link_match
		where id = $1 and account_link_id = $2`, e.Ref, e.SubjectID)
	if err != nil || len(found) == 0 {
		return "missing", err
	}
	if journal.Held(found[0].Source, op.ActorOf(ctx), false) {
		return "held", nil
	}
	if circle, err := pairCircles(ctx, tx, e.SubjectID, e.After); circle || err != nil {
		return "conflict", err
	}
	return "", s.links.judge(ctx, tx, *e.Ref, found[0].side, e.After, e.AfterSource)
}

// Rows returns the whole rows of links, for a plan that will create them.
func (subject) Rows(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]json.RawMessage, error) {
	type row struct {
		ID  id.ID           `db:"id"`
		Row json.RawMessage `db:"row"`
	}
	rows, err := pg.All[row](ctx, q, `select id, to_jsonb(l) as row from account_link l where id = any($1)`, ids)
	out := make(map[id.ID]json.RawMessage, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Row
	}
	return out, err
}

// Make creates links of a plan as deleted proposals, which the plan's entries then change. If
// someone else has linked the two accounts in the meantime, no link is created, because two
// accounts have only one.
func (subject) Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error {
	printed, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("print planned links: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `
		insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence, created_at, updated_at,
			deleted_at)
		select id, short_id, primary_id, mirror_id, kind, 'auto', created_at, updated_at, clock_timestamp()
		from jsonb_populate_recordset(null::account_link, $1::text::jsonb) on conflict do nothing`, string(printed))
	return err
}

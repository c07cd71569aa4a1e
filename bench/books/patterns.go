package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// waiting is the number of transactions that wait for review when the review groups are read.
const waiting = 8400

// groups requests the first page of what waits for review, by payee.
func groups(ctx context.Context, w *world, connections int) (side, error) {
	w.made = append(w.made, `delete from transaction_tag where tag_id = (select id from tag where slug = 'needs-review')`)
	if _, err := w.admin.Exec(ctx, `
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, (select id from tag where slug = 'needs-review'), true, 'rule' from transaction t
		where t.deleted_at is null order by t.date desc, t.id desc limit $1 on conflict do nothing`, waiting); err != nil {
		return nil, fmt.Errorf("tag: %w", err)
	}
	return reading("/api/v1/review/groups")(ctx, w, connections)
}

// bareGroups groups what waits for review by payee.
var bareGroups = bareSide(asking(`select coalesce(d.payee, d.form), t.currency, count(*), sum(t.amount), max(t.date)
	from transaction_tag g join tag on tag.id = g.tag_id and tag.slug = 'needs-review'
		join transaction t on t.id = g.transaction_id join descriptor d on d.id = t.descriptor_id
	where g.present and t.deleted_at is null group by 1, 2 order by 3 desc limit 50`))

// A sweep is the server's search for recurring payments among the wordings of some transactions, as
// after a sync. The server starts it when the noted wordings are a minute old; here a notification
// starts it at once. The connection that notes the wordings and waits is not measured.
type sweep struct {
	w    *world
	note func(ctx context.Context, conn *pgx.Conn) error
}

func sweeping(note func(ctx context.Context, conn *pgx.Conn) error) func(context.Context, *world, int) (side, error) {
	return func(ctx context.Context, w *world, _ int) (side, error) {
		s := &sweep{w, note}
		err := s.idle(ctx) // finish earlier searches first
		return s, err
	}
}

// someForms notes the wordings of the newest transactions, as a sync does.
func someForms(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `insert into form_due (account_id, form, noted_at)
		select t.account_id, d.form, clock_timestamp() - interval '1 hour'
		from (select * from transaction where deleted_at is null order by date desc, id desc limit 30) t
			join descriptor d on d.id = t.descriptor_id where d.form is not null`)
	return err
}

// allForms notes every wording once, as an upgrade does.
func allForms(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `insert into form_due (account_id, form, noted_at)
		select account_id, form, clock_timestamp() - interval '1 hour' from (select distinct t.account_id, d.form
			from transaction t join descriptor d on d.id = t.descriptor_id where d.form is not null) x`)
	return err
}

// The least that a sweep must read from the database.
const (
	someRows = `select t.id, t.date, t.amount, t.currency from transaction t join descriptor d on d.id = t.descriptor_id
		where t.deleted_at is null and (t.account_id, d.form) in (select x.account_id, y.form
			from (select * from transaction where deleted_at is null order by date desc, id desc limit 30) x
				join descriptor y on y.id = x.descriptor_id)`
	allRows = `select id, account_id, descriptor_id, date, amount, currency from transaction where deleted_at is null`
)

func (s *sweep) pid() int { return s.w.server.Pid() }

func (s *sweep) close(context.Context) {}

func (s *sweep) round(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	var took []time.Duration
	for begun := time.Now(); len(took) == 0 || time.Since(begun) < length; {
		if err := s.note(ctx, s.w.admin); err != nil {
			return nil, fmt.Errorf("note: %w", err)
		}
		if _, err := s.w.admin.Exec(ctx, `select pg_notify('coffer', 'pattern')`); err != nil {
			return nil, fmt.Errorf("wake: %w", err)
		}
		start := time.Now()
		if err := s.idle(ctx); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// idle waits until no search is left. Findings are measured separately, so idle drops the searches
// for findings that are due.
func (s *sweep) idle(ctx context.Context) error {
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var busy bool
		if err := s.w.admin.QueryRow(ctx, `select exists (select from form_due)`).Scan(&busy); err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		if !busy {
			_, err := s.w.admin.Exec(ctx, `delete from sighting_due`)
			return err
		}
	}
	return errors.New("the server does not look for recurring payments")
}

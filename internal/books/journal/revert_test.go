package journal

import (
	"context"
	"slices"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

var tags = Definition{Subject: Tag, Table: "tag", Columns: []string{"slug", "display_name"}, Unique: "slug"}

// A shelf is a journal of tags.
type shelf struct {
	*Journal
	db  *pg.DB
	ctx context.Context //nolint:containedctx // of one test
}

func newShelf(t *testing.T, more ...Subject) *shelf {
	t.Helper()
	db := pgtest.New(t)
	return &shelf{
		New(Config{DB: db, Subjects: append(more, tags)}), db,
		op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "Robin"}),
	}
}

func (s *shelf) in(t *testing.T, do func(tx pg.Tx) error) {
	t.Helper()
	if err := s.db.InTx(s.ctx, do); err != nil {
		t.Fatal(err)
	}
}

// write runs a statement on one tag as a recorded change and returns the change's id.
func (s *shelf) write(t *testing.T, tag id.ID, statement string, args ...any) string {
	t.Helper()
	s.in(t, func(tx pg.Tx) error {
		return tags.Recorded(s.ctx, tx, []id.ID{tag}, Note{}, func() ([]Entry, error) {
			_, err := tx.Exec(s.ctx, statement, append([]any{tag}, args...)...)
			return nil, err
		})
	})
	last, err := pg.Value[id.ID](s.ctx, s.db, `select id from change order by seq desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return last.String()
}

func (s *shelf) create(t *testing.T, slug string) (tag id.ID, change string) {
	t.Helper()
	tag = id.New()
	return tag, s.write(t, tag, `insert into tag (id, short_id, slug, display_name) values ($1, $2, $3, 'New')`,
		tag.Short(), slug)
}

func (s *shelf) rename(t *testing.T, tag id.ID, name string) (change string) {
	t.Helper()
	return s.write(t, tag, `update tag set display_name = $2 where id = $1`, name)
}

func (s *shelf) revert(t *testing.T, change string) (out Reverted) {
	t.Helper()
	s.in(t, func(tx pg.Tx) (err error) {
		out, err = s.Revert(s.ctx, tx, RevertChange{ChangeID: change})
		return err
	})
	return out
}

// name returns the tag's display name, or "" if it is deleted.
func (s *shelf) name(t *testing.T, tag id.ID) string {
	t.Helper()
	name, err := pg.Value[string](s.ctx, s.db, `select case when deleted_at is null then display_name else '' end
		from tag where id = $1`, tag)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRevertRestoresAndCanBeReverted(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	tag, created := s.create(t, "trip")
	renamed := s.rename(t, tag, "Journey")
	out := s.revert(t, renamed)
	if got := s.name(t, tag); got != "New" || out.Reverted != 1 || out.Change == nil {
		t.Fatalf("after the revert it is %q: %+v", got, out)
	}
	s.revert(t, out.Change.ID.String())
	if got := s.name(t, tag); got != "Journey" {
		t.Errorf("after the revert of the revert it is %q", got)
	}
	s.revert(t, renamed)
	if s.revert(t, created); s.name(t, tag) != "" {
		t.Error("the tag that the change created is still there")
	}
}

func TestRevertTwiceIsRefused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	tag, _ := s.create(t, "trip")
	renamed := s.rename(t, tag, "Journey")
	s.revert(t, renamed)
	err := s.db.InTx(s.ctx, func(tx pg.Tx) error {
		_, err := s.Revert(s.ctx, tx, RevertChange{ChangeID: renamed})
		return err
	})
	if !errs.Is(err, errs.Conflict) {
		t.Errorf("the second revert: %v", err)
	}
}

// A revert skips fields that others changed since, and can restore them as soon as the later change
// is reverted.
func TestRevertLeavesLaterChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	tag, _ := s.create(t, "trip")
	first, second := s.rename(t, tag, "Journey"), s.rename(t, tag, "Voyage")
	out := s.revert(t, first)
	if out.Reverted != 0 || out.Change != nil || out.ByReason["changed_since"] != 1 || s.name(t, tag) != "Voyage" {
		t.Errorf("%+v, the name is %q", out, s.name(t, tag))
	}
	s.revert(t, second)
	if s.revert(t, first); s.name(t, tag) != "New" {
		t.Errorf("the name is %q", s.name(t, tag))
	}
}

func TestRevertSkipsTakenNames(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	tag, _ := s.create(t, "trip")
	deleted := s.write(t, tag, `update tag set deleted_at = now() where id = $1`)
	other, _ := s.create(t, "trip")
	if out := s.revert(t, deleted); out.ByReason["conflict"] != 1 || s.name(t, tag) != "" || s.name(t, other) == "" {
		t.Errorf("%+v", out)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	tag, _ := s.create(t, "trip")
	renamed := s.rename(t, tag, "Journey")
	s.in(t, func(tx pg.Tx) error {
		out, err := s.Revert(s.ctx, tx, RevertChange{ChangeID: renamed, DryRun: true})
		if out.Reverted != 1 || out.Change != nil || !out.DryRun {
			t.Errorf("%+v", out)
		}
		return err
	})
	if got := s.name(t, tag); got != "Journey" {
		t.Errorf("the name is %q", got)
	}
}

// An owner records the order in which it is called.
type owner struct {
	kind string
	book *[]string
}

func (o owner) Kind() string                                     { return o.kind }
func (o owner) Lock(_ context.Context, _ pg.Tx, _ []id.ID) error { return nil }
func (o owner) Leaves(_ string, record *string) bool             { return record == nil }

func (o owner) Apply(_ context.Context, _ pg.Tx, entries []Entry) ([]Skipped, error) {
	for _, e := range entries {
		what := " goes"
		if e.After != nil {
			what = " comes"
		}
		*o.book = append(*o.book, o.kind+what)
	}
	return nil, nil
}

// Records that come back into use are restored first, with owners in their order. Records that go
// out of use come last, in reverse order.
func TestRevertOrder(t *testing.T) {
	t.Parallel()
	var book []string
	s := newShelf(t, owner{Account, &book}, owner{Category, &book}, owner{RuleSubject, &book})
	var change *id.ID
	s.in(t, func(tx pg.Tx) (err error) {
		var entries []Entry
		for _, kind := range []string{RuleSubject, Account, Category} {
			entries = append(entries,
				Entry{Subject: kind, SubjectID: id.New(), Field: FieldRecord, After: new("{}")},
				Entry{Subject: kind, SubjectID: id.New(), Field: FieldRecord, Before: new("{}")})
		}
		change, err = Record(s.ctx, tx, Note{Summary: "Much"}, entries)
		return err
	})
	s.revert(t, change.String())
	want := []string{"account comes", "category comes", "rule comes", "rule goes", "category goes", "account goes"}
	if !slices.Equal(book, want) {
		t.Errorf("called in the order %v, want %v", book, want)
	}
}

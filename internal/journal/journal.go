// Package journal records every change of meaning with what was there before, so that it can be explained and undone.
// It must not know what a subject is: owners apply what a revert asks for, and hand themselves in as a Subject.
package journal

import (
	"context"
	"fmt"

	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// The causes of changes.
const (
	API    = "api"
	Tool   = "tool"
	Rule   = "rule"
	Sync   = "sync"
	Import = "import"
	Revert = "revert"
)

// The kinds of subjects.
const (
	Transaction  = "transaction"
	Tag          = "tag"
	Category     = "category"
	Counterparty = "counterparty"
	RuleSubject  = "rule"
)

// The fields that entries are about. Record is a whole definition, as JSON.
const (
	FieldCategory     = "category"
	FieldCounterparty = "counterparty"
	FieldTag          = "tag"
	FieldComment      = "comment"
	FieldDeleted      = "deleted"
	FieldRecord       = "record"
)

// An Entry is what a change does to one field of one subject: the value before and after, and whose each was.
type Entry struct {
	ID           int64   `db:"id"`
	Subject      string  `db:"subject"`
	SubjectID    id.ID   `db:"subject_id"`
	Field        string  `db:"field"`
	Ref          *id.ID  `db:"ref"` // which tag, which comment
	Before       *string `db:"before"`
	After        *string `db:"after"`
	BeforeSource *string `db:"before_source"`
	AfterSource  *string `db:"after_source"`
	RuleID       *id.ID  `db:"rule_id"`
	Note         *string `db:"note"`
}

// A Subject applies entries to what it owns, when a revert asks for it.
type Subject interface {
	// Kind is the subject of the entries that it takes.
	Kind() string
	// Lock keeps others from changing these until the transaction ends.
	Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error
	// Apply sets each entry's field to After and AfterSource, and says which it could not set and why. It records nothing; the journal does.
	Apply(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error)
}

// A Skipped is a field that a revert left as it was.
type Skipped struct {
	Subject   string `json:"subject" enum:"transaction,rule,tag,category,counterparty"`
	SubjectID id.ID  `json:"subject_id"`
	// TransactionID repeats the subject where it is a transaction, which it nearly always is.
	TransactionID *id.ID `json:"transaction_id"`
	Field         string `json:"field"`
	Reason        string `json:"reason" enum:"changed_since,held,missing,conflict" doc:"changed_since: someone touched it later; held: a person set it and an agent asks; missing: it is gone; conflict: its name is taken, or it would contradict what is there now"`
	entry         int64
}

// Skip makes the Skipped of an entry.
func Skip(e Entry, reason string) Skipped {
	s := Skipped{Subject: e.Subject, SubjectID: e.SubjectID, Field: e.Field, Reason: reason, entry: e.ID}
	if e.Subject == Transaction {
		s.TransactionID = new(e.SubjectID)
	}
	return s
}

// Journal is the record of one household.
type Journal struct {
	db       *pg.DB
	subjects map[string]Subject
}

// New makes a Journal. Whoever owns something that can be reverted is a Subject.
func New(db *pg.DB) *Journal { return &Journal{db: db, subjects: map[string]Subject{}} }

// Join adds owners. It is called while the service is put together, never later.
func (j *Journal) Join(subjects ...Subject) {
	for _, s := range subjects {
		j.subjects[s.Kind()] = s
	}
}

// A Note is what is said about a change beside its entries.
type Note struct {
	Cause   string // "" takes it from the call: tool for a tool's, else api
	Summary string
	Reverts *id.ID
}

const maxNote = 1000

// few is the number of entries up to which one statement is cheaper than COPY's own round trips.
const few = 500

// Record writes a change and its entries, some thousands in a few statements, and answers its id. Without entries there is no change, and nil is answered.
func Record(ctx context.Context, tx pg.Tx, n Note, entries []Entry) (*id.ID, error) {
	if len(entries) == 0 {
		return nil, nil //nolint:nilnil // the comment says so
	}
	if n.Cause == "" {
		n.Cause = API
		if op.SurfaceOf(ctx) == op.Tool {
			n.Cause = Tool
		}
	}
	if err := spend(ctx, tx, n.Cause, Touched(entries)); err != nil {
		return nil, err
	}
	actor := op.ActorOf(ctx)
	var change id.ID
	err := pg.Redraw(ctx, tx, "change_short_id", func(tx pg.Tx) error {
		change = id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into change (id, short_id, cause, summary, actor_type, actor_id, actor_name, transactions, entries, reverts, root, round, undoes)
			select @id, @short, @cause, @summary, @type, @actor, @name, @transactions, @entries, t.id, coalesce(t.root, t.id),
				case when t.id is null then 0 else 1 + coalesce((select max(f.round) from change f where f.root = coalesce(t.root, t.id)), 0) end, coalesce(not t.undoes, false)
			from (values (true)) one left join change t on t.id = @reverts`, pg.Args{
			"id": change, "short": change.Short(), "cause": n.Cause, "summary": n.Summary, "type": actor.Type, "actor": actor.ID, "name": actor.Name,
			"transactions": Touched(entries), "entries": len(entries), "reverts": n.Reverts,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := write(ctx, tx, change, entries); err != nil {
		return nil, err
	}
	return &change, nil
}

// Continue keeps a change that is still being made from being reverted until the transaction ends, and answers it. One that was reverted meanwhile takes no more: then nil is answered, and what follows is another change.
func Continue(ctx context.Context, tx pg.Tx, change *id.ID) (*id.ID, error) {
	if change == nil {
		return nil, nil //nolint:nilnil // the comment says so
	}
	if err := hold(ctx, tx, *change); err != nil {
		return nil, err
	}
	reverted, err := pg.Value[bool](ctx, tx, `select exists (select from change where root = $1)`, change)
	if err != nil || reverted {
		return nil, err
	}
	return change, nil
}

// hold keeps others from extending or reverting the change until the transaction ends.
func hold(ctx context.Context, tx pg.Tx, change id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from change where id = $1 for no key update`, change)
	return err
}

// Extend adds entries to a change that Continue answered, a part at a time, each part about other transactions. Without a change yet it is Record.
func Extend(ctx context.Context, tx pg.Tx, change *id.ID, n Note, entries []Entry) (*id.ID, error) {
	if change == nil || len(entries) == 0 {
		if change != nil {
			return change, nil
		}
		return Record(ctx, tx, n, entries)
	}
	if err := spend(ctx, tx, n.Cause, Touched(entries)); err != nil {
		return nil, err
	}
	if err := write(ctx, tx, *change, entries); err != nil {
		return nil, err
	}
	_, err := pg.Exec(ctx, tx, `update change set transactions = transactions + $2, entries = entries + $3 where id = $1`, change, Touched(entries), len(entries))
	return change, err
}

// Touched is how many transactions the entries are about.
func Touched(entries []Entry) int {
	subjects := map[id.ID]bool{}
	for _, e := range entries {
		if e.Subject == Transaction {
			subjects[e.SubjectID] = true
		}
	}
	return len(subjects)
}

func write(ctx context.Context, tx pg.Tx, change id.ID, entries []Entry) error {
	for i, e := range entries {
		if e.Note != nil {
			entries[i].Note = new(text.Prose(*e.Note, maxNote).Plain())
		}
	}
	if len(entries) > few {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"entry"},
			[]string{"change_id", "subject", "subject_id", "field", "ref", "before", "after", "before_source", "after_source", "rule_id", "note"},
			pgx.CopyFromSlice(len(entries), func(i int) ([]any, error) {
				e := &entries[i]
				return []any{change, e.Subject, e.SubjectID, e.Field, e.Ref, e.Before, e.After, e.BeforeSource, e.AfterSource, e.RuleID, e.Note}, nil
			}))
		if err != nil {
			return fmt.Errorf("copy entries: %w", err)
		}
		return nil
	}
	n := len(entries)
	kinds, subjects, fields, refs := make([]string, n), make([]id.ID, n), make([]string, n), make([]*id.ID, n)
	before, after, beforeSource, afterSource := make([]*string, n), make([]*string, n), make([]*string, n), make([]*string, n)
	rules, notes := make([]*id.ID, n), make([]*string, n)
	for i, e := range entries {
		kinds[i], subjects[i], fields[i], refs[i] = e.Subject, e.SubjectID, e.Field, e.Ref
		before[i], after[i], beforeSource[i], afterSource[i] = e.Before, e.After, e.BeforeSource, e.AfterSource
		rules[i], notes[i] = e.RuleID, e.Note
	}
	_, err := pg.Exec(ctx, tx, `
		insert into entry (change_id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note)
		select @change, v.*
		from unnest(@kinds::text[], @subjects::uuid[], @fields::text[], @refs::uuid[], @before::text[], @after::text[], @before_source::text[], @after_source::text[], @rules::uuid[], @notes::text[]) v`,
		pg.Args{
			"change": change, "kinds": kinds, "subjects": subjects, "fields": fields, "refs": refs, "before": before, "after": after,
			"before_source": beforeSource, "after_source": afterSource, "rules": rules, "notes": notes,
		})
	return err
}

// Source is whose a field is that the call's actor sets: a person's fields are held against rules and agents.
func Source(a op.Actor) string {
	switch a.Type {
	case op.User:
		return op.User
	case op.Agent:
		return op.Agent
	}
	return "rule"
}

// Held reports whether a field with that source may not be set by that actor without force.
func Held(source *string, a op.Actor, force bool) bool {
	return source != nil && *source == op.User && a.Type != op.User && !force
}

package journal

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
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
	// WorkflowRun is the cause of changes that a workflow run makes by its own calls.
	WorkflowRun = "workflow_run"
)

// The kinds of subjects.
const (
	Transaction  = "transaction"
	Tag          = "tag"
	Category     = "category"
	Counterparty = "counterparty"
	RuleSubject  = "rule"
	Account      = "account"
	AccountLink  = "account_link"
	Report       = "report"
	Target       = "target"
	Pattern      = "pattern" // a recurring payment
	Finding      = "finding"
)

// The fields of entries. FieldRecord is a whole definition, as JSON.
const (
	FieldCategory     = "category"
	FieldCounterparty = "counterparty"
	FieldTag          = "tag"
	FieldComment      = "comment"
	FieldDeleted      = "deleted"
	FieldRecord       = "record"
	FieldSplit        = "split" // of a transaction: its parts and their amounts
	FieldExcluded     = "excluded_reason"
	FieldRefund       = "refund_of" // of a refund: the id of its purchase
	// FieldAccount is a transaction's account: its id, followed by the bank's id of the transaction
	// if that changes with the account.
	FieldAccount = "account"
	// FieldCorrection is a bank's correction of a transaction that it delivered before: its
	// identity, day, amount and text, as JSON.
	FieldCorrection = "correction"
	// FieldMatch is a decision about one pair: a pair of an account link, or a manual transaction
	// and one of the bank's.
	FieldMatch = "match"
	// Matched and Parted are the values of FieldMatch for transactions.
	Matched = "matched"
	Parted  = "parted"
	// FieldAmount and the fields below are those of manual transactions.
	FieldAmount       = "amount"
	FieldDate         = "date"
	FieldName         = "name"
	FieldMerchantName = "merchant_name"
	FieldDetail       = "detail"
)

// HandFields are the fields of a transaction that can be changed only if it is manual.
var HandFields = []string{FieldAmount, FieldDate, FieldName, FieldMerchantName, FieldDetail}

// An Entry is the effect of a change on one field of one subject: the value and its source before
// and after.
type Entry struct {
	ID           int64   `db:"id" json:"id"`
	Subject      string  `db:"subject" json:"subject"`
	SubjectID    id.ID   `db:"subject_id" json:"subject_id"`
	Field        string  `db:"field" json:"field"`
	Ref          *id.ID  `db:"ref" json:"ref"` // the tag, comment or match
	Before       *string `db:"before" json:"before"`
	After        *string `db:"after" json:"after"`
	BeforeSource *string `db:"before_source" json:"before_source"`
	AfterSource  *string `db:"after_source" json:"after_source"`
	RuleID       *id.ID  `db:"rule_id" json:"rule_id"`
	Note         *string `db:"note" json:"note"`
}

// A Subject applies entries to the records it owns when a revert asks for it.
type Subject interface {
	// Kind returns the subject of the entries that it applies.
	Kind() string
	// Lock locks these records until the transaction ends.
	Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error
	// Apply sets each entry's field to After and AfterSource, and returns the entries it could not
	// set, with the reasons. It records nothing; the journal does.
	Apply(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error)
}

// A FieldOwner is a Subject that applies some fields of records. The other fields and the locks
// belong to the Subject of the same kind. A FieldOwner is called after that Subject. If it has a
// method Places, it is called before, because its fields determine where the record is.
type FieldOwner interface {
	Subject
	// Fields returns the fields that it applies.
	Fields() []string
}

// A Skipped is a field that a revert left unchanged.
type Skipped struct {
	Subject   string `json:"subject" enum:"transaction,rule,tag,category,counterparty,account,account_link,report,target,pattern,finding"`
	SubjectID id.ID  `json:"subject_id"`
	// TransactionID repeats the subject's id if it is a transaction, as it nearly always is.
	TransactionID *id.ID `json:"transaction_id"`
	Field         string `json:"field"`
	Reason        string `json:"reason" enum:"changed_since,reviewed_since,held,missing,conflict,together" doc:"changed_since: someone changed it later; reviewed_since: a person closed the review later and let it stand; held: a person set it and the caller is an agent; missing: it no longer exists; conflict: its name is taken, or it would contradict the current data; together: the account and the transactions of a merge or removal go back together, and not all of them can"`
	// Because is the reason why the field itself could not be restored. It is nil if only another
	// field is the cause.
	Because *string `json:"because,omitempty" enum:"changed_since,held,missing,conflict" doc:"With reason together: why each field that causes it can't be restored"`
	entry   int64
}

// Skip returns the Skipped of an entry.
func Skip(e Entry, reason string) Skipped {
	s := Skipped{Subject: e.Subject, SubjectID: e.SubjectID, Field: e.Field, Reason: reason, entry: e.ID}
	if e.Subject == Transaction {
		s.TransactionID = new(e.SubjectID)
	}
	return s
}

// Conflicts returns the entries that must be skipped because their subjects no longer fit.
func Conflicts(entries []Entry, subjects []id.ID) []Skipped {
	var out []Skipped
	for _, e := range entries {
		if slices.Contains(subjects, e.SubjectID) {
			out = append(out, Skip(e, "conflict"))
		}
	}
	return out
}

// Journal is the journal of one household.
type Journal struct {
	db       *pg.DB
	subjects map[string]Subject
	owners   []FieldOwner
}

// A Config holds the parts of a Journal.
type Config struct {
	DB       *pg.DB
	Subjects []Subject // every owner of records that can be reverted
}

// New returns a Journal.
func New(c Config) *Journal {
	j := &Journal{db: c.DB, subjects: map[string]Subject{}}
	for _, s := range c.Subjects {
		if o, ok := s.(FieldOwner); ok {
			j.owners = append(j.owners, o)
		} else {
			j.subjects[s.Kind()] = s
		}
	}
	j.owners = append(j.owners, comments{}) // last, because a comment's transaction is restored before it
	return j
}

const maxNote = 1000

// few is the number of entries up to which one statement is cheaper than COPY with its extra round
// trips.
const few = 500

// Record writes a change and its entries, thousands of them in a few statements, and returns its
// id. Without entries it writes nothing and returns nil. It must come last in a call, when
// everything that the entries are about is locked: the numbers that it assigns are the order in
// which changes happened, and lists and reverts rely on it.
func Record(ctx context.Context, tx pg.Tx, n Note, entries []Entry) (*id.ID, error) {
	if len(entries) == 0 {
		return nil, nil //nolint:nilnil // the comment says so
	}
	actor := op.ActorOf(ctx)
	if n.Cause == "" {
		switch {
		case actor.Run != nil:
			n.Cause = WorkflowRun
		case op.SurfaceOf(ctx) == op.Tool:
			n.Cause = Tool
		default:
			n.Cause = API
		}
	}
	if err := spend(ctx, tx, n, cost(ctx, n, entries)); err != nil {
		return nil, err
	}
	d, of := n.facts(entries)
	if err := n.word(ctx, tx, d, entries); err != nil {
		return nil, err
	}
	var reverts *id.ID
	if n.reverts != nil {
		reverts = &n.reverts.ID
	}
	var change id.ID
	err := pg.Redraw(ctx, tx, "change_short_id", func(tx pg.Tx) error {
		change = id.New() // its order has no meaning: servers' clocks differ
		_, err := pg.Exec(ctx, tx, `
			insert into change (id, short_id, cause, summary, actor_type, actor_id, actor_name, transactions, entries,
				created_at, reverts, root, round, undoes, wording, action, of_action, subject_kind, subject_id,
				subject_count, refs)
			select @id, @short, @cause, @summary, @type, @actor, @name, @transactions, @entries, clock_timestamp(),
				t.id, coalesce(t.root, t.id),
				case when t.id is null then 0
					else 1 + coalesce((select max(f.round) from change f where f.root = coalesce(t.root, t.id)),
					0) end, coalesce(not t.undoes, false), @wording::int,
				@action, @of_action::text, @subject_kind::text, @subject_id::uuid, @subject_count, @refs::jsonb
			from (values (true)) one left join change t on t.id = @reverts`, pg.Args{
			"id": change, "short": change.Short(), "cause": n.Cause, "summary": n.Summary, "type": actor.Type,
			"actor": actor.ID, "name": actor.Name,
			"transactions": Touched(entries), "entries": len(entries), "reverts": reverts,
			"wording": n.Wording, "action": d.Action, "of_action": present(of), "subject_kind": present(d.Kind),
			"subject_id": d.Subject, "subject_count": d.Count, "refs": d.With,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := write(ctx, tx, change, entries); err != nil {
		return nil, err
	}
	if trying(ctx) != nil {
		return &change, nil // the change will be rolled back, so nobody is notified
	}
	if s := rehearsing(ctx); s != nil {
		s.changes = append(s.changes, change)
	}
	op.Changed(ctx, change)
	return &change, nil
}

// Continue locks a change that is still being made, so that it cannot be reverted until the
// transaction ends, and returns it. If it was reverted in the meantime, Continue returns nil, and
// further entries become another change.
func Continue(ctx context.Context, tx pg.Tx, change *id.ID) (*id.ID, error) {
	if change == nil {
		return nil, nil //nolint:nilnil // the comment says so
	}
	if err := lockChange(ctx, tx, *change); err != nil {
		return nil, err
	}
	reverted, err := pg.Value[bool](ctx, tx, `select exists (select from change where root = $1)`, change)
	if err != nil || reverted {
		return nil, err
	}
	return change, nil
}

// lockChange locks the change until the transaction ends: nobody else can extend or revert it.
func lockChange(ctx context.Context, tx pg.Tx, change id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from change where id = $1 for no key update`, change)
	return err
}

// Extend adds a batch of entries to a change that Continue returned. Each batch is about other
// transactions. If change is nil, Extend does the same as Record. Entries about subjects that a
// later change has touched must not become part of the earlier change. Otherwise neither change
// could be reverted before the other. Extend records such entries as a separate change and returns
// it as beside.
func Extend(ctx context.Context, tx pg.Tx, change *id.ID, n Note, entries []Entry) (extended, beside *id.ID,
	err error,
) {
	if len(entries) == 0 {
		return change, nil, nil
	}
	if change == nil {
		extended, err = Record(ctx, tx, n, entries)
		return extended, nil, err
	}
	free, overtaken, err := part(ctx, tx, *change, entries)
	if err != nil {
		return nil, nil, err
	}
	if len(free) > 0 {
		if err := spend(ctx, tx, n, cost(ctx, Note{}, free)); err != nil {
			return nil, nil, err
		}
		if err := write(ctx, tx, *change, free); err != nil {
			return nil, nil, err
		}
		if err := n.extend(ctx, tx, *change, free); err != nil {
			return nil, nil, err
		}
	}
	n.beside = true
	beside, err = Record(ctx, tx, n, overtaken)
	return change, beside, err
}

// part divides entries by whether a later change has touched their subject or the definition they
// refer to. Definitions that are created now never become part of the earlier change.
func part(ctx context.Context, tx pg.Tx, change id.ID, entries []Entry) (free, overtaken []Entry, err error) {
	later, err := pg.Value[bool](ctx, tx, `select exists (select from change l where l.seq > c.seq) from change c
		where c.id = $1`, change)
	if err != nil || !later {
		return entries, nil, err
	}
	var ids []id.ID
	hit := map[id.ID]bool{}
	for _, e := range entries {
		ids = append(ids, e.leads()...)
		if e.Subject != Transaction { // a name may be free only because of a later change
			hit[e.SubjectID] = true
		}
	}
	touched, err := pg.Values[id.ID](ctx, tx, `
		select distinct e.subject_id from unnest($2::uuid[]) v (id) join entry e on e.subject_id = v.id
			join change l on l.id = e.change_id
		where l.seq > (select seq from change where id = $1)`, change, distinct(ids))
	if err != nil || len(touched)+len(hit) == 0 {
		return entries, nil, err
	}
	for _, u := range touched {
		hit[u] = true
	}
	apart := map[id.ID]bool{}
	for _, e := range entries {
		apart[e.SubjectID] = apart[e.SubjectID] || slices.ContainsFunc(e.leads(), func(u id.ID) bool { return hit[u] })
	}
	for _, e := range entries {
		if apart[e.SubjectID] {
			overtaken = append(overtaken, e)
		} else {
			free = append(free, e)
		}
	}
	return free, overtaken, nil
}

// leads returns the ids of the entry's subject and of the definition that the entry makes it refer
// to.
func (e Entry) leads() []id.ID {
	ids := []id.ID{e.SubjectID}
	switch {
	case e.Field == FieldTag && e.Ref != nil:
		ids = append(ids, *e.Ref)
	case (e.Field == FieldCategory || e.Field == FieldCounterparty) && e.After != nil:
		if u, err := id.Parse(*e.After); err == nil {
			ids = append(ids, u)
		}
	}
	return ids
}

func distinct(ids []id.ID) []id.ID {
	seen := make(map[id.ID]bool, len(ids))
	return slices.DeleteFunc(ids, func(u id.ID) bool {
		twice := seen[u]
		seen[u] = true
		return twice
	})
}

// Touched returns the number of transactions that the entries are about.
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
			[]string{
				"change_id", "subject", "subject_id", "field", "ref", "before", "after", "before_source",
				"after_source", "rule_id", "note",
			},
			pgx.CopyFromSlice(len(entries), func(i int) ([]any, error) {
				e := &entries[i]
				return []any{
					change, e.Subject, e.SubjectID, e.Field, e.Ref, e.Before, e.After, e.BeforeSource,
					e.AfterSource, e.RuleID, e.Note,
				}, nil
			}))
		if err != nil {
			return fmt.Errorf("copy entries: %w", err)
		}
		return nil
	}
	n := len(entries)
	kinds, subjects, fields, refs := make([]string, n), make([]id.ID, n), make([]string, n), make([]*id.ID, n)
	before, after, beforeSource, afterSource := make([]*string, n), make([]*string, n), make([]*string,
		n), make([]*string, n)
	rules, notes := make([]*id.ID, n), make([]*string, n)
	for i, e := range entries {
		kinds[i], subjects[i], fields[i], refs[i] = e.Subject, e.SubjectID, e.Field, e.Ref
		before[i], after[i], beforeSource[i], afterSource[i] = e.Before, e.After, e.BeforeSource, e.AfterSource
		rules[i], notes[i] = e.RuleID, e.Note
	}
	_, err := pg.Exec(ctx, tx, `
		insert into entry (change_id, subject, subject_id, field, ref, before, after, before_source, after_source,
			rule_id, note)
		select @change, v.*
		from unnest(@kinds::text[], @subjects::uuid[], @fields::text[], @refs::uuid[], @before::text[],
			@after::text[], @before_source::text[], @after_source::text[], @rules::uuid[], @notes::text[]) v`,
		pg.Args{
			"change": change, "kinds": kinds, "subjects": subjects, "fields": fields, "refs": refs, "before": before,
			"after":         after,
			"before_source": beforeSource, "after_source": afterSource, "rules": rules, "notes": notes,
		})
	return err
}

// Source returns the source of a field that the call's actor sets. Fields that a person sets are
// held: rules and agents leave them.
func Source(a op.Actor) string {
	switch a.Type {
	case op.User:
		return op.User
	case op.Agent:
		return op.Agent
	}
	return "rule"
}

// Held reports whether a field with that source is protected from the actor, who cannot set it
// without force.
func Held(source *string, a op.Actor, force bool) bool {
	return source != nil && *source == op.User && a.Type != op.User && !force
}

package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// The fields that a worklist may decide.
const (
	SetsCategory     = "category"
	SetsTags         = "tags"
	SetsComment      = "comment"
	SetsCounterparty = "counterparty"
)

// ByPayee makes a row of a sheet stand for all transactions of a payee.
const ByPayee = "payee"

const (
	// mostWork is how many transactions a run takes that has no limit of writes.
	mostWork = 2000
	// rowMost is how many transactions a row may stand for: as many as one call can change.
	rowMost = 50
	// MaxSheet is how many rows a sheet has at most.
	MaxSheet = 50
)

// Decides reports whether the worklist may set that.
func (w Worklist) Decides(what string) bool { return slices.Contains(w.Sets, what) }

// Reviews reports whether the worklist is about the review queue. Then a decision closes the
// review; a workflow that files other transactions leaves reviews to people.
func (w Worklist) Reviews() bool {
	return slices.Contains(w.Filter.Tags, ledger.NeedsReview) || slices.Contains(w.Filter.AnyTag, ledger.NeedsReview)
}

// Work holds the transactions that a run has to decide.
type Work struct {
	// Rows are the transactions of each row, in the order of the sheets. Only rows by payee have
	// several.
	Rows [][]id.ID `json:"rows"`
	// Known is how many matching transactions are left out, because the workflow was asked about
	// them before and nothing has changed since.
	Known int `json:"known"`
}

// Take returns the transactions of a run: those that match its filter, oldest first, except those
// that the workflow has seen. Pending transactions may still change, so they wait until they are
// posted. Transactions of hidden accounts and mirrored ones do not count for the household.
func (d Definition) Take(ctx context.Context, q pg.Querier, books *ledger.Books, of *id.ID) (Work, error) {
	limit := mostWork
	if d.MaxWrites != nil {
		limit = min(limit, *d.MaxWrites)
	}
	out := Work{Rows: [][]id.ID{}}
	where, none, err := d.where(ctx, q, books.WhereTagged)
	if err != nil || none || limit == 0 {
		return out, err
	}
	if out.Known, err = d.known(ctx, q, where.Clone(), of); err != nil {
		return out, err
	}
	unseen := where.Clone()
	unseen.And("(select s.state <> "+state+" from workflow_seen s "+
		"where s.workflow_id = $? and s.transaction_id = t.id) is not false", d.asked(), of)
	if d.Worklist.By == ByPayee {
		unseen.And("t.descriptor_id = d.id")
		out.Rows, err = takePayees(ctx, q, *where, unseen, limit, d.Worklist.Size)
		return out, err
	}
	ids, err := pg.Values[id.ID](ctx, q, fmt.Sprintf(`
		select t.id from transaction t join descriptor d on d.id = t.descriptor_id %s
		order by t.date, t.id limit %d`, unseen.SQL(), limit), unseen.Args()...)
	for _, u := range ids {
		out.Rows = append(out.Rows, []id.ID{u})
	}
	return out, err
}

// where returns the conditions that transactions must fulfill to be worked on.
func (d Definition) where(ctx context.Context, q pg.Querier,
	by func(context.Context, pg.Querier, ledger.Filter) (*pg.Where, bool, error),
) (*pg.Where, bool, error) {
	f := d.Worklist.Filter
	if f.Excluded == nil {
		f.Excluded = new(false)
	}
	f.Pending = new(false)
	where, none, err := by(ctx, q, f)
	if err == nil {
		where.And("t.account_id <> all(array(select id from account where hidden or deleted_at is not null))")
	}
	return where, none, err
}

// known counts what matches and has been seen as it is now.
func (d Definition) known(ctx context.Context, q pg.Querier, where pg.Where, of *id.ID) (int, error) {
	where.And("s.workflow_id = $?", of).And("s.state = "+state, d.asked())
	return pg.Value[int](ctx, q, `select count(*)::int from workflow_seen s join transaction t on t.id = s.transaction_id
		join descriptor d on d.id = t.descriptor_id `+where.SQL(), where.Args()...)
}

// takePayees returns the payees with most transactions first, so the fewest answers settle the
// most. Each has its newest transactions, no more than leave room for a whole sheet of payees.
//
// Payees are counted without their wordings, of which there are few. Then one payee after the other
// is read until there are enough.
func takePayees(ctx context.Context, q pg.Querier, all, unseen pg.Where, limit, size int) ([][]id.ID, error) {
	type row struct {
		Key int64 `db:"payee"`
		ID  id.ID `db:"id"`
	}
	found, err := pg.All[row](ctx, q, fmt.Sprintf(`
		with counted as materialized (select t.descriptor_id, count(*) as n from transaction t %s group by 1),
		payees as materialized (
			select d.payee, sum(c.n) as n from counted c join descriptor d on d.id = c.descriptor_id
			where d.payee is not null group by 1 order by 2 desc, 1)
		select p.payee, x.id from payees p cross join lateral (
			select y.id from (select * from descriptor d where d.payee = p.payee offset 0) d cross join lateral (
				select t.id, t.date from transaction t %s order by t.date desc, t.id desc limit %[3]d) y
			order by y.date desc, y.id desc limit %[3]d) x
		limit %[4]d`, all.SQL(), unseen.SQL(), min(max(limit/max(size, 1), 1), rowMost), limit), unseen.Args()...)
	out := [][]id.ID{}
	for i, r := range found {
		if i == 0 || r.Key != found[i-1].Key {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r.ID)
	}
	return out, err
}

// Open returns the transactions that still match. If a person decided about one while the model was
// working, the model's decision no longer counts.
func (d Definition) Open(ctx context.Context, q pg.Querier, books *ledger.Books, ids []id.ID) ([]id.ID, error) {
	where, none, err := d.where(ctx, q, books.Where)
	if err != nil || none || len(ids) == 0 {
		return nil, err
	}
	where.And("t.id = any($?)", ids)
	return pg.Values[id.ID](ctx, q, `select t.id from transaction t `+where.SQL(), where.Args()...)
}

// asked returns a hash of everything that determines the answers: the instructions, the model and
// the worklist. Limits are not included, so raising one does not make a run ask everything again.
func (d Definition) asked() []byte {
	printed, err := json.Marshal(struct {
		System, Prompt, Provider, Model string
		Worklist                        *Worklist
	}{d.System, d.Prompt, d.Provider, d.Model, d.Worklist})
	if err != nil {
		panic("workflow: a definition cannot be printed: " + err.Error()) // it was read from JSON
	}
	sum := sha256.Sum256(printed)
	return sum[:]
}

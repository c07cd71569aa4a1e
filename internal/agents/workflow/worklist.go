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

// ByPayee makes each row of a sheet represent all transactions of a payee.
const ByPayee = "payee"

const (
	// mostWork is how many transactions a run works on if it has no limit on writes.
	mostWork = 2000
	// rowMost is how many transactions a row may represent: as many as one call can change.
	rowMost = 50
	// MaxSheet is the maximum number of rows of a sheet.
	MaxSheet = 50
)

// Decides reports whether the worklist may set that field.
func (w Worklist) Decides(what string) bool { return slices.Contains(w.Sets, what) }

// Reviews reports whether the worklist is about the review queue. Only then a decision closes the
// review. A workflow that categorizes other transactions leaves reviews to people.
func (w Worklist) Reviews() bool {
	return slices.Contains(w.Filter.Tags, ledger.NeedsReview) || slices.Contains(w.Filter.AnyTag, ledger.NeedsReview)
}

// Work holds the transactions that a run has to decide.
type Work struct {
	// Rows are the transactions of each row, in the order of the sheets. Only a row for a payee can
	// have several.
	Rows [][]id.ID `json:"rows"`
	// Known is how many matching transactions are left out, because the workflow was asked about
	// them before and nothing has changed since.
	Known int `json:"known"`
}

// Take returns the transactions that a run works on: those that match its filter, oldest first,
// except those that the workflow has already seen. Pending transactions are left out, because they
// may still change. Transactions of hidden accounts and mirrored transactions are left out too,
// because they do not count for the household.
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

// where returns the conditions for the transactions that the workflow works on.
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

// known counts the matching transactions that the workflow has already seen in their current state.
func (d Definition) known(ctx context.Context, q pg.Querier, where pg.Where, of *id.ID) (int, error) {
	where.And("s.workflow_id = $?", of).And("s.state = "+state, d.asked())
	return pg.Value[int](ctx, q, `select count(*)::int from workflow_seen s join transaction t on t.id = s.transaction_id
		join descriptor d on d.id = t.descriptor_id `+where.SQL(), where.Args()...)
}

// takePayees returns the payees with the most transactions first, so that few answers decide many
// transactions. Each payee has its newest transactions, but only so many that a sheet has room for
// other payees.
//
// The query counts transactions by wording first, and then joins the few wordings with their
// payees. After that it reads one payee after the other until there are enough transactions.
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

// Open returns the transactions that still match. If a person decided about a transaction while the
// model was working, the model's decision does not count.
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

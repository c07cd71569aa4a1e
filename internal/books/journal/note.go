package journal

import (
	"context"
	"maps"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Note describes a change besides its entries.
type Note struct {
	Cause string // "" derives it from the call: workflow_run for a run, tool for a tool, else api
	// Did overrides facts that would be derived from the entries: each field that is set takes
	// precedence.
	Did Facts
	// Summary is coffer's own sentence, for what the facts cannot express. If it is empty, the
	// sentence is made from the facts. PayeeMark stands for the payee.
	Summary string
	Wording *int32 // the payee's wording; if nil, a wording that all transactions share is used
	// Writes is the additional cost of the change in an agent's budget, beyond one write for each
	// record that its entries are about: the transactions that lose or get something with a record.
	Writes int
	// Approved means that a person approved the change, so that it does not count against a budget.
	Approved bool

	reverts *Change
	undoes  bool // with reverts: whether this change undoes the root of its family
	beside  bool // its records were edited while another change was being made
}

// facts returns what the change did. For a revert, of is the action that it undoes or does again.
func (n Note) facts(entries []Entry) (d Facts, of string) {
	if n.reverts != nil {
		return n.reverts.undone(n.undoes, entries)
	}
	d = factsOf(n.Cause, entries)
	if n.Did.Action != "" {
		if rest := with(entries); d.Action != n.Did.Action {
			d = subjectsOf(entries).all(n.Did.Action, entries)
			d.With = rest
		}
	}
	if n.Did.Kind != "" {
		d.Kind, d.Subject, d.Count = n.Did.Kind, n.Did.Subject, max(n.Did.Count, 1)
	}
	if d.With == nil {
		d.With = map[string]id.ID{}
	}
	maps.Copy(d.With, n.Did.With)
	return d, ""
}

// undone returns the facts of the change that restores these entries of c.
func (c *Change) undone(undoes bool, entries []Entry) (Facts, string) {
	d := c.did
	if c.of != "" {
		d.Action = c.of
	}
	if some := subjectsOf(entries).of(d.Kind); len(some) > 0 && len(some) < d.Count { // the rest was skipped
		d.Subject, d.Count = one(some), len(some)
	}
	return d.back(undoes, c.ID)
}

// extend adds the counts of a batch of entries to a change, and removes references that not all
// batches share.
func (n Note) extend(ctx context.Context, tx pg.Tx, change id.ID, entries []Entry) error {
	d, _ := n.facts(entries)
	if n.Did.Kind != "" { // the note names a record, and the batches are consequences for others
		d.Kind = ""
	}
	_, err := pg.Exec(ctx, tx, `
		update change c set transactions = transactions + @transactions, entries = entries + @entries,
			subject_count = subject_count + case when subject_kind = @kind then @count::int else 0 end,
			subject_id = case when subject_kind = @kind then null else subject_id end,
			wording = case when subject_kind = @kind then null else wording end,
			refs = case when subject_kind = @kind and refs is not null
				then (select coalesce(jsonb_object_agg(r.key, r.value), '{}') from jsonb_each(c.refs) r
					where @refs::jsonb -> r.key = r.value) else refs end
		where id = @id`, pg.Args{
		"id": change, "transactions": Touched(entries), "entries": len(entries), "kind": d.Kind, "count": d.Count,
		"refs": d.With,
	})
	return err
}

// word completes the summary, and sets the payee's wording if all transactions share a payee.
func (n *Note) word(ctx context.Context, tx pg.Tx, d Facts, entries []Entry) (err error) {
	if touched := Touched(entries); n.Wording == nil && touched > 0 && touched <= few {
		if n.Wording, err = sharedPayee(ctx, tx, entries); err != nil {
			return err
		}
	}
	if n.Summary == "" {
		if n.Summary, err = summarize(ctx, tx, d, entries, n.Wording != nil); err != nil {
			return err
		}
	}
	if n.beside {
		n.Summary += ", for records edited in the meantime"
	}
	return nil
}

// sharedPayee returns the most common wording of the entries' transactions if all have the same
// payee, else nil.
func sharedPayee(ctx context.Context, q pg.Querier, entries []Entry) (*int32, error) {
	var ids []id.ID
	for _, e := range entries {
		if e.Subject == Transaction {
			ids = append(ids, e.SubjectID)
		}
	}
	return pg.Value[*int32](ctx, q, `
		select case when count(distinct d.payee) = 1 then mode() within group (order by d.id) end
		from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id join descriptor d on d.id = t.descriptor_id`,
		distinct(ids))
}

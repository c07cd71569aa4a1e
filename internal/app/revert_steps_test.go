package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

var errRevertServer = errors.New("the service failed")

// call runs a step. The service may refuse the call, but must not fail.
func (r *revertRun) call(ctx context.Context, actor op.Actor, s revertStep) (op.Answer, error) {
	surface := op.REST
	if o := r.ops[s.op]; actor.Type == op.Agent && o.Tool != "" || o.Route == "" {
		surface = op.Tool
	}
	answer, err := r.Runner.Call(ctx, r.ops[s.op], op.Call{
		Actor: actor, Surface: surface, Args: s.args,
		RequestID: "test",
	})
	line, _ := json.Marshal(s.args)
	r.story = append(r.story, fmt.Sprintf("%d %s %s %s: %v", len(r.changes), actor.Type, s.op, line, err))
	if e, ok := errors.AsType[*errs.Error](err); ok {
		r.tally.add("calls refused: "+string(e.Code), 1)
		if e.Code.Status() >= 500 {
			return answer, fmt.Errorf("%w: %s by %s: %w", errRevertServer, s.op, actor.Type, err)
		}
		if s.op != "change.revert" {
			err = nil
		}
	} else {
		r.tally.add("calls that were answered", 1)
	}
	return answer, err
}

// A revertAnswer is the response to a revert.
type revertAnswer struct {
	Change   *struct{ ID string }
	Reverted int
	Skipped  []struct {
		Subject, Field, Reason string
		SubjectID              string `json:"subject_id"`
	}
}

func (r *revertRun) revert(ctx context.Context, actor op.Actor, change string) (revertAnswer, error) {
	var out revertAnswer
	a, err := r.Runner.Call(ctx, r.ops["change.revert"],
		op.Call{Actor: actor, Surface: op.REST, Args: map[string]any{"change_id": change}, RequestID: "test"})
	r.story = append(r.story, fmt.Sprintf("  %s reverts %s: %v", actor.Type, change, err))
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(a.Body, &out)
	return out, err
}

// look reads every field, and adds the entries since the last look to made.
func (r *revertRun) look(ctx context.Context, made *revertChange) error {
	var state, entries string
	if err := r.DB.QueryRow(ctx, revertLookSQL, r.txs, r.prefix+"%", r.seen).Scan(&state, &entries,
		&r.seen); err != nil {
		return err
	}
	r.state = revertState{}
	for line := range strings.SplitSeq(state, "\x1e") {
		f := strings.Split(line, "\x1f")
		r.state[f[0]] = revertCell{f[1], f[2]}
	}
	if entries == "" || made == nil {
		return nil
	}
	at := map[string]int{}
	for line := range strings.SplitSeq(entries, "\x1e") {
		f := strings.Split(line, "\x1f")
		if made.id != "" && made.id != f[0] {
			return errors.New("one call made two changes")
		}
		made.id = f[0]
		t := revertTouch{key: f[1], before: revertCell{f[2], f[3]}, after: revertCell{f[4], f[5]}}
		if i, again := at[t.key]; again {
			made.touches[i].after = t.after
			continue
		}
		at[t.key] = len(made.touches)
		made.touches = append(made.touches, t)
	}
	return nil
}

const revertLookSQL = `
	with field (k, v, s) as (
		select 'transaction/' || t.id || '/' || f.name || '/', f.v, f.s
		from transaction t, lateral (values ('category', t.category_id::text, t.category_source),
			('counterparty', t.counterparty_id::text, t.counterparty_source),
			('deleted', t.deleted_at::text, t.deleted_source)) f (name, v, s)
		where t.id = any($1::text[]::uuid[])
		union all select 'transaction/' || transaction_id || '/tag/' || tag_id, case
			when present then 'present' end, source from transaction_tag where transaction_id = any($1::text[]::uuid[])
		union all select 'transaction/' || c.transaction_id || '/comment/' || c.id, case
			when c.deleted_at is null then c.content end, case
			when e.id is null then replace(c.author_type, 'system', 'rule') else e.after_source end
		from comment c left join lateral (select * from entry e
			where e.subject_id = c.transaction_id and e.field = 'comment' and e.ref = c.id
			order by e.id desc limit 1) e on true
		where c.transaction_id = any($1::text[]::uuid[])
		union all select 'tag/' || id || '/record/',
			(to_jsonb(d) - '{short_id,created_at,updated_at,deleted_at,is_system}'::text[])::text, null from tag d
			where slug like $2 and deleted_at is null
		union all select 'category/' || id || '/record/',
			(to_jsonb(d) - '{short_id,created_at,updated_at,deleted_at,is_system,is_primary,parent_is_primary}'::text[])::text, null from category d where slug like $2 and deleted_at is null
		union all select 'counterparty/' || id || '/record/',
			(to_jsonb(d) - '{short_id,created_at,updated_at,deleted_at}'::text[])::text, null from counterparty d
			where name like $2 and deleted_at is null),
	fresh as (select * from entry where id > $3)
	select (select string_agg(concat_ws(e'\x1f', k, coalesce(v, '-'), coalesce(s, '-')), e'\x1e') from field
		where v is not null or s is not null),
		coalesce((select string_agg(concat_ws(e'\x1f', change_id,
			subject || '/' || subject_id || '/' || field || '/' || coalesce(ref::text, ''), coalesce(before, '-'),
			case when field = 'record' then '-' else coalesce(before_source, '-') end, coalesce(after, '-'), case
				when field = 'record' then '-' else coalesce(after_source, '-') end), e'\x1e' order by id)
				from fresh), ''),
		(select coalesce(max(id), $3) from fresh)`

// hash returns the canonical hash of the sequence's world, with the hashed text above it to show
// differences.
func (r *revertRun) hash(ctx context.Context) (string, error) {
	return ledgertest.Canonical(ctx, r.DB, r.txs, r.prefix+"%")
}

// A revertStep is a call that someone might make.
type revertStep struct {
	op     string
	args   map[string]any
	force  bool
	moves  bool // a merge moves every use of the category, whatever its source, and keeps the sources
	undoes *revertChange
}

func (r *revertRun) actor() op.Actor { return r.actors[r.dice.IntN(len(r.actors))] }

func (r *revertRun) one(of ...string) string { return of[r.dice.IntN(len(of))] }

func (r *revertRun) some(of []string, most int) []any {
	var out []any
	for _, i := range r.dice.Perm(len(of))[:1+r.dice.IntN(most)] {
		out = append(out, of[i])
	}
	return out
}

func (r *revertRun) category() string {
	return r.prefix + r.one("a", "b", "aa", "ab", "ba", "aa", "ab", "ba", "c", "ca")
}

func (r *revertRun) tag() string { return r.prefix + r.one("x", "y", "z", "x", "y", "z", "v", "w") }

// counterparty returns an existing counterparty, chosen by the order of names, so that both runs of
// a sequence choose the same.
func (r *revertRun) counterparty(ctx context.Context) string {
	ids, err := pg.Values[string](ctx, r.from, `select id::text from counterparty
		where name like $1 and deleted_at is null order by name`, r.prefix+"%")
	if err != nil || len(ids) == 0 {
		return id.New().String()
	}
	return r.one(ids...)
}

// comment returns an existing comment and its transaction.
func (r *revertRun) comment(ctx context.Context) map[string]any {
	rows, err := pg.Values[string](ctx, r.from, `select transaction_id || ' ' || id from comment
		where transaction_id = any($1::text[]::uuid[]) and deleted_at is null order by id`, r.txs)
	if err != nil || len(rows) == 0 {
		return map[string]any{"transaction_id": r.txs[0], "comment_id": id.New().String()}
	}
	t, c, _ := strings.Cut(r.one(rows...), " ")
	return map[string]any{"transaction_id": t, "comment_id": c}
}

// edit adds random fields to an operation on a transaction.
func (r *revertRun) edit(ctx context.Context, args map[string]any, tags bool) map[string]any {
	args["transaction_id"] = r.one(r.txs...)
	for _, what := range r.some([]string{
		"category", "category", "counterparty_id", "tags_to_add", "tags_to_remove",
		"comment",
	}, 3) {
		switch what {
		case "category":
			args["category"] = r.category()
		case "counterparty_id":
			args["counterparty_id"] = r.counterparty(ctx)
		case "comment":
			args["comment"] = fmt.Sprintf("beside %d", r.calls)
		default:
			if tags {
				args[what.(string)] = []any{r.tag()}
			}
		}
		if (what == "category" || what == "counterparty_id") && r.dice.IntN(4) == 0 {
			args[what.(string)] = nil
		}
	}
	return args
}

// step returns a random call.
func (r *revertRun) step(ctx context.Context) revertStep {
	r.calls++
	fresh := fmt.Sprintf("text %d", r.calls%5) // sometimes repeats an earlier text
	s := revertStep{args: map[string]any{}, force: r.dice.IntN(4) == 0}
	set := func(name string, v any) {
		s.args[name] = v
	}
	takesForce := true
	switch r.dice.IntN(28) {
	case 0, 1, 2:
		s.op = "transaction.categorize"
		set("transaction_ids", r.some(r.txs, 4))
		set("category_id", r.category())
	case 3, 4, 5, 6:
		s.op = "transaction.change"
		set("operations", []any{r.edit(ctx, map[string]any{}, true), r.edit(ctx, map[string]any{}, true)})
	case 7, 8:
		s.op = "transaction.update"
		r.edit(ctx, s.args, false)
	case 9, 10, 11, 12:
		s.op = r.one("transaction.tag", "transaction.untag")
		set("transaction_id", r.one(r.txs...))
		set("tag_slug", r.tag())
	case 13:
		s.op = "counterparty.link"
		set("id", r.counterparty(ctx))
		set("transaction_ids", r.some(r.txs, 3))
	case 14:
		s.op = "assign_counterparty"
		set("name", r.prefix+r.one("One", "Three", "Four", "Five"))
		set("transaction_ids", r.some(r.txs, 3))
	case 15:
		s.op = "unlink_counterparty_transactions"
		set("id", r.counterparty(ctx))
		set("transaction_ids", r.some(r.txs, 6))
	default:
		takesForce = false
		r.plainStep(ctx, &s, fresh)
	}
	if s.force = s.force && takesForce; s.force {
		set("force", true)
	}
	return s
}

// plainStep returns a random call of an op without the argument force.
func (r *revertRun) plainStep(ctx context.Context, s *revertStep, fresh string) {
	switch r.dice.IntN(15) {
	case 0:
		s.op, s.args = "comment.create", map[string]any{"transaction_id": r.one(r.txs...), "content": fresh}
	case 1, 2:
		s.op, s.args = "comment.update", r.comment(ctx)
		s.args["content"] = fresh
	case 3:
		s.op, s.args = "comment.delete", r.comment(ctx)
	case 4, 5:
		s.op, s.args = r.one("transaction.delete", "transaction.restore"), map[string]any{
			"transaction_id": r.one(r.txs...),
		}
	case 6:
		s.op, s.args, s.moves = "counterparty.merge", map[string]any{
			"id":   r.counterparty(ctx),
			"into": r.counterparty(ctx),
		}, true
	case 7:
		s.op, s.args = r.one("counterparty.create", "counterparty.delete"), map[string]any{}
		if s.op == "counterparty.create" {
			s.args["name"] = r.prefix + r.one("One", "Two", "Three", "Four", "Five")
		} else {
			s.args["id"] = r.counterparty(ctx)
		}
	case 8:
		s.op, s.args = "counterparty.update", map[string]any{
			"id": r.counterparty(ctx), "mcc": "541" + r.one("1", "2"),
			"category_id": r.category(),
		}
		if r.dice.IntN(2) == 0 {
			s.args["name"] = r.prefix + r.one("One", "Two", "Four", "Six")
		}
	case 9:
		s.op, s.args = "category.create", map[string]any{"slug": r.category(), "name": fresh}
		if r.dice.IntN(2) == 0 {
			s.args["parent_id"] = r.prefix + r.one("a", "b", "c")
		}
	case 10:
		s.op, s.args = "category.update", map[string]any{"id": r.category(), "name": fresh}
		if r.dice.IntN(2) == 0 {
			s.args["parent_id"] = any(nil)
		} else if r.dice.IntN(2) == 0 {
			s.args["parent_id"] = r.prefix + r.one("a", "b", "c")
		}
	case 11:
		s.op, s.args, s.moves = "category.merge", map[string]any{"id": r.category(), "into": r.category()}, true
		if r.dice.IntN(2) == 0 {
			s.op, s.args = "category.delete", map[string]any{"id": s.args["id"], "move_to": s.args["into"]}
		}
	case 12:
		s.op, s.args, s.moves = "category.import", map[string]any{"tsv": r.file(fresh)}, true
	case 13:
		s.op, s.args = r.one("tag.create", "tag.delete"), map[string]any{"slug": r.tag()}
	default:
		s.op, s.args = "tag.update", map[string]any{"slug": r.tag(), "name": fresh, "color": "#00000" + r.one("1", "2")}
	}
}

// file returns a file of categories to import.
func (r *revertRun) file(fresh string) string {
	if r.dice.IntN(2) == 0 {
		return fmt.Sprintf("slug\tdisplay_name\tmerge_into\n%s\t%s\t\n%sba\tgone\t%s\n",
			r.prefix+r.one("a", "b", "aa", "c"), fresh, r.prefix, r.prefix+r.one("aa", "ab", "a", "ca"))
	}
	return fmt.Sprintf("slug\tdisplay_name\tparent_slug\n%sc\t%s\t\n%s\t%s\t%s\n", r.prefix, fresh,
		r.prefix+r.one("aa", "ab", "ba", "ca"), fresh, r.prefix+r.one("a", "b", "c"))
}

// A revertTally counts what the test tried and what happened.
type revertTally struct {
	sync.Mutex
	counts map[string]int
}

func (t *revertTally) add(what string, n int) {
	t.Lock()
	defer t.Unlock()
	t.counts[what] += n
}

func (t *revertTally) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "\n%9d %s", t.counts[k], k)
	}
	return b.String()
}

// A revertDefinition has those parts of a tag, category or counterparty that another record can
// contradict.
type revertDefinition struct {
	Slug        string  `json:"slug"`
	Name        string  `json:"name"`
	ParentID    *string `json:"parent_id"`
	CategoryID  *string `json:"category_id"`
	CanonicalID *string `json:"canonical_id"`
}

// contradictions returns impossible states: two existing records with one name, and references to a
// record that is deleted, merged, or not a primary category.
func (r *revertRun) contradictions(s revertState) []string {
	var out []string
	live, names := map[string]revertDefinition{}, map[string]bool{}
	for k, c := range s {
		part := strings.Split(k, "/")
		if part[2] != "record" || c.value == revertNone {
			continue
		}
		d, ok := r.parsed[c.value]
		if !ok {
			_ = json.Unmarshal([]byte(c.value), &d) // if the value is not JSON, its names stay empty
			r.parsed[c.value] = d
		}
		name := part[0] + " " + strings.ToLower(d.Slug+d.Name)
		if names[name] {
			out = append(out, "two live of "+name)
		}
		names[name], live[part[0]+"/"+part[1]] = true, d
	}
	points := func(k, kind string, to *string, fits func(revertDefinition) bool) {
		if to == nil || *to == revertNone {
			return
		}
		if d, ok := live[kind+"/"+*to]; !ok || !fits(d) {
			out = append(out, fmt.Sprintf("%s leads to %s %s, which is gone or does not fit: %+v", k, kind, *to, d))
		}
	}
	whole := func(revertDefinition) bool { return true }
	head := func(d revertDefinition) bool { return d.CanonicalID == nil && d.ParentID == nil }
	for k, d := range live {
		points(k, "category", d.ParentID, head)
		points(k, "category", d.CategoryID, whole)
		points(k, "counterparty", d.CanonicalID, head)
	}
	for k, c := range s {
		switch part := strings.Split(k, "/"); part[2] {
		case "category":
			points(k, "category", &c.value, whole)
		case "counterparty":
			points(k, "counterparty", &c.value, head)
		}
	}
	return out
}

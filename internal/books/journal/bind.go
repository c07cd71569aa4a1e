package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A namer is a Subject whose names are unique among the records in use.
type namer interface {
	// Standing maps the ids of planned records to the records in use that have the same names.
	Standing(ctx context.Context, q pg.Querier, planned []Entry) (map[id.ID]id.ID, error)
}

// bind leaves out records that a plan would create although a record with the same name has come
// into use since. For example, two plans may create the same payee, and the second one then uses
// the first one's record. bind returns the plan without these records, and a map from their ids to
// the records in use. A name that the plan itself moves from another record does not count as
// taken.
func (j *Journal) bind(ctx context.Context, q pg.Querier, plan []Planned) ([]Planned, map[id.ID]id.ID, error) {
	about, bound := map[id.ID]bool{}, map[id.ID]id.ID{}
	for _, p := range plan {
		about[p.SubjectID] = true
	}
	net := Net(plan)
	for _, s := range j.all() {
		n, ok := s.(namer)
		if !ok {
			continue
		}
		var planned []Entry
		for _, p := range net {
			if p.Field == FieldRecord && p.makes() && p.creates() && j.takes(s, p.Entry) {
				planned = append(planned, p.Entry)
			}
		}
		if len(planned) == 0 {
			continue
		}
		found, err := n.Standing(ctx, q, planned)
		if err != nil {
			return nil, nil, err
		}
		for was, is := range found {
			if !about[is] {
				bound[was] = is
			}
		}
	}
	if len(bound) == 0 {
		return plan, bound, nil
	}
	return rebound(plan, bound), bound, nil
}

// rebound returns the plan without the bound records. All references to them become references to
// the records in use.
func rebound(plan []Planned, bound map[id.ID]id.ID) []Planned {
	words := make([]string, 0, 2*len(bound))
	for was, is := range bound {
		words = append(words, was.String(), is.String())
	}
	replacer := strings.NewReplacer(words...)
	text := func(s *string) *string {
		if s == nil {
			return nil
		}
		return new(replacer.Replace(*s))
	}
	ref := func(u *id.ID) *id.ID {
		if u != nil {
			if is, ok := bound[*u]; ok {
				return &is
			}
		}
		return u
	}
	out := make([]Planned, 0, len(plan))
	for _, p := range plan {
		if _, gone := bound[p.SubjectID]; gone {
			continue
		}
		p.Before, p.After = text(p.Before), text(p.After)
		p.Ref, p.RuleID = ref(p.Ref), ref(p.RuleID)
		if p.makes() {
			p.Row = json.RawMessage(replacer.Replace(string(p.Row)))
		}
		out = append(out, p)
	}
	return out
}

// Standing implements namer. If the record with the name was replaced by another record, Standing
// returns the replacement.
func (d Definition) Standing(ctx context.Context, q pg.Querier, planned []Entry) (map[id.ID]id.ID, error) {
	if d.Unique == "" {
		return nil, nil //nolint:nilnil // no names, no record of the same name
	}
	ids, names := make([]id.ID, len(planned)), make([]string, len(planned))
	for i, e := range planned {
		var record map[string]any
		if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
			return nil, fmt.Errorf("read a planned %s: %w", d.Table, err)
		}
		ids[i], names[i] = e.SubjectID, fmt.Sprint(record[d.Unique])
	}
	stands := "x.id"
	if d.Gone != "" {
		stands = fmt.Sprintf("coalesce(x.%s, x.id)", pgx.Identifier{d.Gone}.Sanitize())
	}
	rows, err := q.Query(ctx, fmt.Sprintf(`select v.id, %s from unnest($1::uuid[], $2::text[]) v (id, name)
		join %s x on lower(x.%s) = lower(v.name) and x.id <> v.id and x.deleted_at is null`,
		stands, d.table(), pgx.Identifier{d.Unique}.Sanitize()), ids, names)
	if err != nil {
		return nil, fmt.Errorf("look for names of %s: %w", d.Table, err)
	}
	out := map[id.ID]id.ID{}
	var was, is id.ID
	_, err = pgx.ForEachRow(rows, []any{&was, &is}, func() error {
		out[was] = is
		return nil
	})
	return out, err
}

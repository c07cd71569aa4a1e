package pg

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
)

// A Ref is a caller's reference to a record: a UUID, a short id or, if the record has one, a slug.
type Ref struct {
	uuid *id.ID
	text string
}

// RefTo parses a caller's reference. A UUID is recognized by its form. Anything else is a slug or a
// short id; the database decides which.
func RefTo(text string) Ref {
	if u, err := id.Parse(text); err == nil {
		return Ref{uuid: &u}
	}
	return Ref{text: text}
}

// Args returns the three arguments of the condition (id = $1 or slug = $2 or short_id = $3). Order
// by (slug = $2) desc, because a slug may look like a short id.
func (r Ref) Args() []any {
	if r.uuid != nil {
		return []any{r.uuid, nil, nil}
	}
	return []any{nil, strings.ToLower(r.text), r.text}
}

// IDArgs returns the two arguments of the condition (id = $1 or short_id = $2), for records that
// have no slug.
func (r Ref) IDArgs() []any {
	if r.uuid != nil {
		return []any{r.uuid, nil}
	}
	return []any{nil, r.text}
}

// Found turns ErrNoRow into NOT_FOUND for the named kind of record, and returns other errors
// unchanged. The hint names the op that lists such records, in braces: "{tag.list} lists them".
func Found(err error, kind, hint string) error {
	if errors.Is(err, ErrNoRow) {
		return errs.Missing("", kind, hint)
	}
	return err
}

// Named is Found for a reference inside a body: it returns INVALID_REFERENCE for that field.
func Named(err error, field, kind, hint string) error {
	if errors.Is(err, ErrNoRow) {
		return errs.Missing(field, kind, hint)
	}
	return err
}

// Redraw runs insert, which generates ids, again if one of its short ids is taken. Each attempt is
// a savepoint, so a collision leaves the transaction usable.
func Redraw(ctx context.Context, tx Tx, constraint string, insert func(Tx) error) error {
	var err error
	for range 5 {
		err = Savepoint(ctx, tx, insert)
		if !Violates(err, constraint) {
			return err
		}
	}
	return err
}

// Split separates references into UUIDs and other texts.
func Split(refs []string) (texts []string, uuids []id.ID) {
	texts, uuids = []string{}, []id.ID{}
	for _, r := range refs {
		if u, err := id.Parse(r); err == nil {
			uuids = append(uuids, u)
		} else {
			texts = append(texts, r)
		}
	}
	return texts, uuids
}

// Names resolves references in one query, and returns the ids by the given texts. look is the
// query: it takes UUIDs and texts and returns id, name and short_id. A name takes precedence over a
// short id of the same form.
func Names(ctx context.Context, q Querier, refs []string, look string) (map[string]id.ID, error) {
	type row struct {
		ID    id.ID  `db:"id"`
		Name  string `db:"name"`
		Short string `db:"short_id"`
	}
	found := map[string]id.ID{}
	if len(refs) == 0 {
		return found, nil
	}
	texts, uuids := Split(refs)
	for _, t := range slices.Clone(texts) {
		texts = append(texts, strings.ToLower(t))
	}
	rows, err := All[row](ctx, q, look, uuids, texts)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		for _, r := range rows {
			_, taken := found[ref]
			if strings.EqualFold(r.Name, ref) || r.ID.String() == strings.ToLower(ref) || !taken && r.Short == ref {
				found[ref] = r.ID
			}
		}
	}
	return found, nil
}

package journal

import (
	"context"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// actorNamed returns the member, key, assistant or workflow run that a caller names: by UUID or
// short id, or by a name that only one of them has. Deleted keys and members are found by the
// changes they made.
func actorNamed(ctx context.Context, q pg.Querier, field, ref string) (id.ID, error) {
	type actor struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}
	known, err := pg.All[actor](ctx, q, `
		with recursive hop as (
			(select actor_id, actor_name from change where actor_id is not null order by actor_id, seq limit 1)
			union all
			select n.actor_id, n.actor_name from hop, lateral (select c.actor_id, c.actor_name from change c
				where c.actor_id > hop.actor_id order by c.actor_id, c.seq limit 1) n)
		select actor_id as id, actor_name as name from hop
		union select id, name from member where id = $1 or short_id = $2 or lower(name) = lower($2)
		union select id, name from token where id = $1 or short_id = $2 or kind = 'api_key' and lower(name) = lower($2)
		union select c.id, k.title from consent c join client k on k.id = c.client_id
			where c.id = $1 or c.short_id = $2 or lower(k.title) = lower($2)
		union select id, workflow_slug from workflow_run where id = $1 or short_id = $2`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return id.ID{}, err
	}
	named := map[id.ID]bool{}
	for _, a := range known {
		switch {
		case a.ID.Short() == ref || strings.EqualFold(a.ID.String(), ref):
			return a.ID, nil
		case strings.EqualFold(a.Name, ref):
			named[a.ID] = true
		}
	}
	for u := range named {
		if len(named) == 1 {
			return u, nil
		}
		const several = "several actors have this name; pass the actor_id that changes show"
		return id.ID{}, &errs.Error{
			Code: errs.InvalidReference, Message: field + ": " + several,
			Details: []errs.Detail{{Field: field, Code: "reference", Message: several}},
		}
	}
	return id.ID{}, errs.Missing(field, "member, key, assistant or run", "{change.list} shows who made changes")
}

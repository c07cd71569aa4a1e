package app

import (
	"context"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// candidates returns, for each kind, the records that an unknown name may mean. They are names that
// the household gave: text from banks is never suggested.
func candidates() map[string]op.Candidates {
	from := func(sql string) op.Candidates {
		return func(ctx context.Context, q pg.Querier) ([]op.Candidate, error) {
			return pg.All[op.Candidate](ctx, q, sql)
		}
	}
	return map[string]op.Candidates{
		"category": from(`select slug as value, display_name as name from category where deleted_at is null
			order by slug limit 2000`),
		"tag": from(`select slug as value, display_name as name from tag where deleted_at is null
			order by slug limit 2000`),
		"user": from(`select short_id as value, name from member where deleted_at is null
			order by name limit 2000`),
		"account": from(`select short_id as value, display_name as name from account
			where display_name is not null and deleted_at is null order by display_name limit 2000`),
		"workflow":     from(`select slug as value, name from workflow order by slug limit 500`),
		"prompt_block": from(`select slug as value, title as name from prompt_block order by slug limit 500`),
		"rule":         from(`select short_id as value, name from rule where deleted_at is null order by name limit 2000`),
	}
}

package feed

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// fetch reads a file piece by piece, so that it is held once: what comes in one answer stands in the connection's buffer too.
func fetch(ctx context.Context, q pg.Querier, upload id.ID) ([]byte, error) {
	const piece = 2 << 20
	size, err := pg.Value[int](ctx, q, `select length(content) from upload where id = $1`, upload)
	if err != nil {
		return nil, err
	}
	file := make([]byte, 0, size)
	for len(file) < size {
		next, err := pg.Value[[]byte](ctx, q, `select substring(content from $2 for $3) from upload where id = $1`, upload, len(file)+1, piece)
		if err != nil {
			return nil, err
		}
		file = append(file, next...)
	}
	return file, nil
}

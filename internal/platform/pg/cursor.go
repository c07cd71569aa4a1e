package pg

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
)

const (
	cursorVersion = 1
	digestSize    = 8
	macSize       = 16
)

// A Pager signs and reads the cursors of one list with one set of filters. A cursor is opaque, and
// is valid only for that list with those filters.
type Pager struct {
	key    []byte
	digest [digestSize]byte
}

// Pager returns a Pager for the list with that name and those filters (any JSON-able value without
// the cursor itself).
func (db *DB) Pager(ctx context.Context, list string, filters any) (Pager, error) {
	key, err := db.signingKey(ctx)
	if err != nil {
		return Pager{}, err
	}
	b, err := json.Marshal(filters)
	if err != nil {
		return Pager{}, fmt.Errorf("digest filters: %w", err)
	}
	sum := sha256.Sum256(append([]byte(list+"\x00"), b...))
	return Pager{key: key, digest: [digestSize]byte(sum[:])}, nil
}

// Encode returns the cursor of a position: the sort values of the last row shown.
func (p Pager) Encode(position ...string) (string, error) {
	b, err := json.Marshal(position)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	payload := append([]byte{cursorVersion}, p.digest[:]...)
	payload = append(payload, b...)
	return base64.RawURLEncoding.EncodeToString(append(payload, p.mac(payload)...)), nil
}

// Decode reads a cursor back into n sort values. A value that Encode did not return for the same
// list and filters gives the error INVALID_CURSOR.
func (p Pager) Decode(cursor string, n int) ([]string, error) {
	invalid := errs.New(errs.InvalidCursor,
		"this cursor does not belong to this list and these filters; start again without a cursor and keep the "+
			"filters unchanged from page to page")
	if len(cursor) > 1024 || strings.ContainsAny(cursor, "\r\n") { // the decoder would skip line breaks
		return nil, invalid
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < 1+digestSize+macSize || b[0] != cursorVersion {
		return nil, invalid
	}
	payload, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	if !hmac.Equal(mac, p.mac(payload)) || [digestSize]byte(payload[1:1+digestSize]) != p.digest {
		return nil, invalid
	}
	var position []string
	if err := json.Unmarshal(payload[1+digestSize:], &position); err != nil || len(position) != n {
		return nil, invalid
	}
	return position, nil
}

// ByID reads a page of a list that is ordered by id. It calls read with the last id of the previous
// page (nil for the first page) and the number of rows to read: one more than the page shows, to
// find out whether another page follows. The returned next is that page's cursor, or "".
func ByID[T any](p Pager, cursor string, limit int, read func(after *string, limit int) ([]T, error),
	key func(T) id.ID,
) (rows []T, next string, err error) {
	var after *string
	if cursor != "" {
		at, err := p.Decode(cursor, 1)
		if err != nil {
			return nil, "", err
		}
		after = &at[0]
	}
	if rows, err = read(after, limit+1); err != nil || len(rows) <= limit {
		return rows, "", err
	}
	rows = rows[:limit]
	next, err = p.Encode(key(rows[limit-1]).String())
	return rows, next, err
}

func (p Pager) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, p.key)
	h.Write(payload)
	return h.Sum(nil)[:macSize]
}

// signingKey returns the key that signs cursors. It is created with the database and never changes,
// so a copy in memory is never stale.
func (db *DB) signingKey(ctx context.Context) ([]byte, error) {
	if k := db.cursorKey.Load(); k != nil {
		return *k, nil
	}
	k, err := Value[[]byte](ctx, db, `select cursor_key from instance`)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	db.cursorKey.Store(&k)
	return k, nil
}

// Package id creates, parses and prints the two identifiers of a record: a UUIDv7 and the
// 8-character short id derived from it. It does not know which records exist; package pg finds the
// record of an identifier.
package id

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

const (
	alphabet    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	shortLength = 8
	shortSpace  = 218340105584896 // 62^8
)

// An ID is a UUID. In JSON it is the UUID's text.
type ID [16]byte

// New returns a UUIDv7: 48 bits of milliseconds, 12 bits of the fraction of the millisecond, 62
// random bits. Ids created later on one machine sort later, which keeps indexes compact.
func New() ID {
	var u ID
	if _, err := rand.Read(u[8:]); err != nil {
		panic("id: no random numbers available: " + err.Error()) // crypto/rand ends the program before this can happen
	}
	now := time.Now()
	ms := uint64(now.UnixMilli())
	fraction := uint64(now.Nanosecond()%int(time.Millisecond)) * 4096 / uint64(time.Millisecond)
	binary.BigEndian.PutUint64(u[:8], ms<<16|0x7000|fraction)
	u[8] = u[8]&0x3f | 0x80
	return u
}

// ErrNotUUID is the error of Parse for text that is not a UUID.
var ErrNotUUID = errors.New("not a UUID")

// Parse reads the 36-character form of a UUID, of any version, in either case.
func Parse(s string) (ID, error) {
	var u ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrNotUUID
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return ID{}, ErrNotUUID
	}
	return u, nil
}

// Must is Parse for constants.
func Must(s string) ID {
	u, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// Short returns the short id: the UUID's 62 random bits as 8 base62 characters. Because it follows
// from the UUID, a reference can be shown short without looking the record up.
func (u ID) Short() string {
	n := binary.BigEndian.Uint64(u[8:]) & (1<<62 - 1) % shortSpace
	var s [shortLength]byte
	for i := shortLength - 1; i >= 0; i-- {
		s[i] = alphabet[n%62]
		n /= 62
	}
	return string(s[:])
}

// IsShort reports whether s has the shape of a short id.
func IsShort(s string) bool { return len(s) == shortLength && IsBase62(s) }

// IsBase62 reports whether s consists of base62 characters only.
func IsBase62(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Base62 returns n random base62 characters.
func Base62(n int) string {
	out := make([]byte, 0, n)
	var pool [64]byte
	for len(out) < n {
		_, _ = rand.Read(pool[:]) // cannot fail: crypto/rand ends the program instead
		for _, b := range pool {
			// 248 is the largest multiple of 62 in a byte; larger values would favor the first
			// characters.
			if b < 248 && len(out) < n {
				out = append(out, alphabet[b%62])
			}
		}
	}
	return string(out)
}

// IsZero reports whether u is the zero value.
func (u ID) IsZero() bool { return u == ID{} }

// Compare orders ids as PostgreSQL does: by their bytes. Ids created by New are then in time order.
func (u ID) Compare(v ID) int { return bytes.Compare(u[:], v[:]) }

// String returns the UUID's text.
func (u ID) String() string {
	return string(u.Append(make([]byte, 0, 36)))
}

// Append appends the UUID's text to b.
func (u ID) Append(b []byte) []byte {
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	hex.Encode(text[:8], u[:4])
	hex.Encode(text[9:13], u[4:6])
	hex.Encode(text[14:18], u[6:8])
	hex.Encode(text[19:23], u[8:10])
	hex.Encode(text[24:], u[10:])
	return append(b, text[:]...)
}

// MarshalText implements encoding.TextMarshaler.
func (u ID) MarshalText() ([]byte, error) { return u.Append(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *ID) UnmarshalText(b []byte) (err error) {
	*u, err = Parse(string(b))
	return err
}

// ScanUUID implements pgtype.UUIDScanner.
func (u *ID) ScanUUID(v pgtype.UUID) error {
	if !v.Valid {
		return errors.New("id: NULL where an id is required")
	}
	*u = v.Bytes
	return nil
}

// UUIDValue implements pgtype.UUIDValuer.
func (u ID) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: u, Valid: true}, nil }

// Numbered returns the UUIDv7 of the nth thing of a kind that has no id of its own: it sorts by
// creation time, and its short id is the number.
func Numbered(at time.Time, n int64) ID {
	var u ID
	binary.BigEndian.PutUint64(u[:8], uint64(at.UnixMilli())<<16|0x7000)
	binary.BigEndian.PutUint64(u[8:], uint64(n)&(1<<62-1)|1<<63)
	return u
}

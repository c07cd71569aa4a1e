package id

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
)

// A Key is a hash of a text that only needs to be compared for equality: the first 64 bits of its
// SHA-256. It is stored as a bigint and shown as 11 base62 characters.
type Key int64

const keyLength = 11 // 62^11 is more than 2^64

var errKey = errors.New("a key is 11 base62 characters")

// KeyOf returns the key of a text.
func KeyOf(text string) Key {
	sum := sha256.Sum256([]byte(text))
	return Key(binary.BigEndian.Uint64(sum[:8]))
}

// ParseKey reads the 11 characters of a key.
func ParseKey(s string) (Key, error) {
	if len(s) != keyLength {
		return 0, errKey
	}
	var n uint64
	for _, c := range []byte(s) {
		digit := strings.IndexByte(alphabet, c)
		if digit < 0 {
			return 0, errKey
		}
		next := n*62 + uint64(digit)
		if n > (1<<64-1)/62 || next < n*62 {
			return 0, errKey
		}
		n = next
	}
	return Key(n), nil
}

// String returns the 11 characters of the key.
func (k Key) String() string {
	n := uint64(k)
	var s [keyLength]byte
	for i := len(s) - 1; i >= 0; i-- {
		s[i] = alphabet[n%62]
		n /= 62
	}
	return string(s[:])
}

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(b []byte) (err error) {
	*k, err = ParseKey(string(b))
	return err
}

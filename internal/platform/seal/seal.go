// Package seal encrypts stored secrets by envelope encryption: each record has its own key, wrapped
// by a key of the [Ring], and both are bound to the place of the record. The package does not know
// the database, nor where keys come from.
//
// A sealed record is
//
//	version (1) | key id (4) | wrapped record key (60) | nonce (12) and ciphertext
//
// with AES-256-GCM in both layers, random nonces (a ring key may wrap 2^32 records before NIST asks
// for a new one), and version and [Place] as associated data in both.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	version = 1
	keyLen  = 32
	idLen   = 4
	wrapLen = 12 + keyLen + 16 // nonce, record key, tag
	headLen = 1 + idLen + wrapLen
	minLen  = headLen + 12 + 16 // an empty plaintext
)

var (
	// ErrNoKey is the error of every use of a nil or empty [Ring].
	ErrNoKey = errors.New("no encryption key: set COFFER_ENCRYPTION_KEY; create one: openssl rand -base64 32")
	// ErrUnknownKey is returned wrapped, with the key id in its text.
	ErrUnknownKey = errors.New("sealed with an unknown key; add that key to COFFER_ENCRYPTION_KEYS_OLD")
	// ErrTampered means that the value is damaged, forged, or moved from another place.
	ErrTampered = errors.New("the sealed value is damaged or belongs to another row or column")
	// ErrPlace reports a mistake in code: in a place without a row, two rows could swap secrets.
	ErrPlace = errors.New("a place to seal for needs a table, a column and a row")
)

// A Place is where a sealed record is stored. A record cannot be opened anywhere else.
type Place struct{ Table, Column, Row string }

// bind returns the associated data. The length stands before each string, so that no two places
// have the same bytes.
func (p Place) bind() []byte {
	out := []byte{version}
	for _, s := range []string{p.Table, p.Column, p.Row} {
		out = binary.BigEndian.AppendUint64(out, uint64(len(s)))
		out = append(out, s...)
	}
	return out
}

type keyID [idLen]byte

// A Ring is the current key and the older keys that records may still be wrapped with. It is
// immutable and safe for concurrent use. A nil Ring means that the server has no key.
type Ring struct {
	current keyID
	keys    map[keyID]*key
}

// A key is a cipher behind its own pointer. If a verb does not fit, fmt follows one pointer and
// prints what is there; without this one it would print the key schedule.
type key struct{ cipher.AEAD }

// NewRing takes keys as base64 of 32 bytes, in either alphabet, padded or not. To rotate, make the
// new key the current one and the previous key an old one. Then rewrap every record that is
// [Ring.Stale], and remove the old key.
func NewRing(current string, old ...string) (*Ring, error) {
	r := &Ring{keys: make(map[keyID]*key)}
	for i, s := range old {
		raw, err := decode(s)
		if err != nil {
			return nil, fmt.Errorf("old encryption key %d must be the base64 of 32 bytes, as it was when it was "+
				"current", i+1)
		}
		r.keys[idOf(raw)] = newKey(raw)
	}
	raw, err := decode(current)
	if err != nil {
		return nil, errors.New("COFFER_ENCRYPTION_KEY must be the base64 of 32 bytes; create one: openssl rand " +
			"-base64 32")
	}
	r.current = idOf(raw)
	r.keys[r.current] = newKey(raw)
	return r, nil
}

// Current returns the id of the current key, "" without one. Ids are the first 8 hex digits of the
// key's SHA-256.
func (r *Ring) Current() string {
	if r.empty() {
		return ""
	}
	return hex.EncodeToString(r.current[:])
}

// Seal encrypts plaintext for one place, under a key created for this record alone.
func (r *Ring) Seal(at Place, plaintext []byte) ([]byte, error) {
	if r.empty() {
		return nil, ErrNoKey
	}
	if at.Table == "" || at.Column == "" || at.Row == "" {
		return nil, ErrPlace
	}
	raw := make([]byte, keyLen)
	rand.Read(raw) // never fails: it would end the program
	return newKey(raw).Seal(r.head(at, raw), nil, plaintext, at.bind()), nil
}

// Open decrypts a record that was sealed for the same place.
func (r *Ring) Open(at Place, sealed []byte) ([]byte, error) {
	raw, err := r.unwrap(at, sealed)
	if err != nil {
		return nil, err
	}
	plaintext, err := newKey(raw).Open(nil, nil, sealed[headLen:], at.bind())
	if err != nil {
		return nil, ErrTampered
	}
	return plaintext, nil
}

// Stale reports whether sealed is not wrapped by the current key. A damaged record counts as stale,
// so that a rotation finds and reports it.
func (r *Ring) Stale(sealed []byte) bool {
	id, err := split(sealed)
	return err != nil || r.empty() || id != r.current
}

// Rewrap wraps the record's key with the current one and leaves the ciphertext unchanged: the
// secret itself is never decrypted.
func (r *Ring) Rewrap(at Place, sealed []byte) ([]byte, error) {
	raw, err := r.unwrap(at, sealed)
	if err != nil {
		return nil, err
	}
	return append(r.head(at, raw), sealed[headLen:]...), nil
}

// head returns the part of a record that depends on the current key.
func (r *Ring) head(at Place, raw []byte) []byte {
	out := append([]byte{version}, r.current[:]...)
	return r.keys[r.current].Seal(out, nil, raw, at.bind())
}

// unwrap returns the record's own key.
func (r *Ring) unwrap(at Place, sealed []byte) ([]byte, error) {
	if r.empty() {
		return nil, ErrNoKey
	}
	id, err := split(sealed)
	if err != nil {
		return nil, err
	}
	wrapper, ok := r.keys[id]
	if !ok {
		return nil, fmt.Errorf("%w: key id %x", ErrUnknownKey, id)
	}
	raw, err := wrapper.Open(nil, nil, sealed[1+idLen:headLen], at.bind())
	if err != nil {
		return nil, ErrTampered
	}
	return raw, nil
}

func (r *Ring) empty() bool { return r == nil || r.keys == nil }

// split checks the form of a record and returns its key id.
func split(sealed []byte) (keyID, error) {
	if len(sealed) < minLen || sealed[0] != version {
		return keyID{}, ErrTampered
	}
	return keyID(sealed[1 : 1+idLen]), nil
}

func idOf(raw []byte) keyID {
	sum := sha256.Sum256(raw)
	return keyID(sum[:idLen])
}

// newKey takes keyLen bytes. With that length the constructors of the cipher cannot fail.
func newKey(raw []byte) *key {
	block, err := aes.NewCipher(raw)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &key{aead}
}

var oneAlphabet = strings.NewReplacer("-", "+", "_", "/")

// decode never includes its input in an error, because the input is a key or close to one.
func decode(s string) ([]byte, error) {
	s = oneAlphabet.Replace(strings.TrimRight(strings.TrimSpace(s), "="))
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || len(raw) != keyLen {
		return nil, errors.New("not a key")
	}
	return raw, nil
}

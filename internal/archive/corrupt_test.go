package archive_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"coffer/internal/archive"
	"coffer/internal/platform/pg/pgtest"
	"filippo.io/age"
)

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

func ageKey(t testing.TB) (identity, recipient string) {
	t.Helper()
	k, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return k.String() + "\n", k.Recipient().String()
}

// Twenty kinds of corruption of a backup are detected, and each leaves the database unchanged.
func TestCorruptedBackups(t *testing.T) {
	t.Parallel()
	from := lived(t, 2000)
	dir := t.TempDir()
	identity, recipient := ageKey(t) // much faster than a passphrase
	key, path := filepath.Join(dir, "key.txt"), filepath.Join(dir, "coffer.age")
	if err := os.WriteFile(key, []byte(identity), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Archive.Backup(t.Context(), path, archive.Way{Lock: archive.Lock{Recipients: []string{recipient}}},
		nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	size := len(whole)
	chunk := 64<<10 + 16
	spoils := map[string]func([]byte) []byte{
		"first byte":     func(b []byte) []byte { b[0] ^= 1; return b },
		"last byte":      func(b []byte) []byte { b[size-1] ^= 1; return b },
		"header":         func(b []byte) []byte { b[60] ^= 1; return b },
		"one byte less":  func(b []byte) []byte { return b[:size-1] },
		"one byte more":  func(b []byte) []byte { return append(b, 0) },
		"half of it":     func(b []byte) []byte { return b[:size/2] },
		"a chunk less":   func(b []byte) []byte { return b[:size-chunk] },
		"the first half": func(b []byte) []byte { return append(b[:size/3], b[size/3+chunk:]...) },
		"chunks exchanged": func(b []byte) []byte {
			x := append([]byte{}, b[size-2*chunk:size-chunk]...)
			copy(b[size-2*chunk:], b[size-3*chunk:size-2*chunk])
			copy(b[size-3*chunk:], x)
			return b
		},
		"zeroes":  func(b []byte) []byte { clear(b[size/4 : size/4+512]); return b },
		"nothing": func([]byte) []byte { return nil },
		"twice":   func(b []byte) []byte { return append(b, whole...) },
	}
	for len(spoils) < 20 {
		at, bit := rng.IntN(size), byte(1)<<rng.IntN(8)
		spoils[fmt.Sprintf("bit %d of byte %d", bit, at)] = func(b []byte) []byte { b[at] ^= bit; return b }
	}
	to := house(t, pgtest.URL(t))
	before, noticed := canonical(t, to.DB), 0
	for name, spoil := range spoils {
		bad := filepath.Join(dir, "bad.age")
		if err := os.WriteFile(bad, spoil(append([]byte{}, whole...)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Archive.Restore(t.Context(), bad, archive.Lock{Identities: key}, nil); err == nil {
			t.Errorf("%s: not noticed", name)
		} else {
			noticed++
		}
		if canonical(t, to.DB) != before {
			t.Fatalf("%s: something stayed", name)
		}
	}
	t.Logf("%d corruptions, %d noticed", len(spoils), noticed)
	if _, err := to.Archive.Restore(t.Context(), path, archive.Lock{Identities: key}, nil); err != nil {
		t.Errorf("the control, with nothing spoilt: %v", err)
	}
}

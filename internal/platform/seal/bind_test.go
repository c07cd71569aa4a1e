package seal

import (
	"errors"
	"testing"
)

// TestCiphertextIsBoundToItsPlace wraps a record's key again for another place, which only somebody
// with the ring's key can do. The ciphertext's own binding must reject it.
func TestCiphertextIsBoundToItsPlace(t *testing.T) {
	t.Parallel()
	r, err := NewRing("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	home, away := Place{"connections", "credentials", "1"}, Place{"connections", "credentials", "2"}
	sealed, err := r.Seal(home, []byte("access-token"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.unwrap(home, sealed)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[Place]error{home: nil, away: ErrTampered} {
		moved := append(r.head(at, raw), sealed[headLen:]...)
		if _, err := r.Open(at, moved); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", at, err, want)
		}
	}
}

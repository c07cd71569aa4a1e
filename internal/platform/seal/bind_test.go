package seal

import (
	"errors"
	"testing"
)

// TestCiphertextIsBoundToItsPlace wraps a record's key again for another place, as only a holder of
// the ring could: the second layer must reject it on its own.
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

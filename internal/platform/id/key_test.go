package id_test

import (
	"testing"

	"coffer/internal/platform/id"
	"pgregory.net/rapid"
)

// Stored keys must have the same meaning forever.
func TestKeyIsPinned(t *testing.T) {
	t.Parallel()
	if k := id.KeyOf("rewe"); k.String() != "I0HKmjMnaXA" {
		t.Errorf("%d %s", int64(k), k)
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := id.Key(rapid.Int64().Draw(t, "key"))
		if s := k.String(); len(s) != 11 || !id.IsBase62(s) {
			t.Fatalf("%d is shown as %q", int64(k), s)
		}
		if back, err := id.ParseKey(k.String()); err != nil || back != k {
			t.Fatalf("%d reads as %d, %v", int64(k), int64(back), err)
		}
	})
	for _, s := range []string{"", "abc", "zzzzzzzzzzz", "0000000000-", "000000000000"} {
		if k, err := id.ParseKey(s); err == nil {
			t.Errorf("%q reads as %d", s, int64(k))
		}
	}
}

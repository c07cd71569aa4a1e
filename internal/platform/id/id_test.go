package id_test

import (
	"encoding/json"
	"testing"

	"coffer/internal/platform/id"
	"pgregory.net/rapid"
)

func TestNewSortsByTimeAndIsVersion7(t *testing.T) {
	t.Parallel()
	last := ""
	for range 1000 {
		u := id.New().String()
		if u[14] != '7' || (u[19] != '8' && u[19] != '9' && u[19] != 'a' && u[19] != 'b') {
			t.Fatalf("%s is not a UUIDv7", u)
		}
		if len(last) > 0 && u[:13] < last[:13] {
			t.Fatalf("%s made after %s sorts before it", u, last)
		}
		last = u
	}
}

func TestShortIsPinned(t *testing.T) {
	t.Parallel()
	// Stored short ids depend on these values forever.
	for uuid, short := range map[string]string{
		"0190b5c0-0000-7000-8000-000000000000": "00000000",
		"0190b5c0-0000-7000-8000-00000000003e": "00000010",
		"0190b5c0-0000-7000-bfff-ffffffffffff": "ZOVH2ZO3",
	} {
		if got := id.Must(uuid).Short(); got != short {
			t.Errorf("short of %s is %s, want %s", uuid, got, short)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := id.New()
		back, err := id.Parse(u.String())
		if err != nil || back != u {
			t.Fatalf("parse of %s: %v", u, err)
		}
		if !id.IsShort(u.Short()) {
			t.Fatalf("%q is not a short id", u.Short())
		}
		full, _ := json.Marshal(u)
		if string(full) != `"`+u.String()+`"` {
			t.Fatalf("JSON %s", full)
		}
	})
}

func TestShortIdsSpread(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool, 200_000)
	for range 200_000 {
		s := id.New().Short()
		if seen[s] {
			t.Fatalf("%s came twice in 200,000; the chance of that is one in ten thousand", s)
		}
		seen[s] = true
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0190b5c0-0000-7000-8000-000000000000")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if u, err := id.Parse(s); err == nil {
			if again, err := id.Parse(u.String()); err != nil || again != u {
				t.Fatal("a parsed id does not parse again")
			}
		}
	})
}

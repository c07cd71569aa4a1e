package pg_test

import (
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"pgregory.net/rapid"
)

// The fast printers give the same output as package time.
func TestAppendIsFormat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-100e9, 300e9).Draw(t, "seconds"),
			rapid.Int64Range(0, 999999999).Draw(t, "nanoseconds"))
		if got, want := string(pg.At(at).Append(nil)), at.UTC().Truncate(time.Microsecond).Format(
			"2006-01-02T15:04:05.000000Z"); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if got, want := string(pg.Day(at).Append(nil)), at.UTC().Format(time.DateOnly); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

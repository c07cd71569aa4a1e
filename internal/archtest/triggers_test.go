package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// wakesOrVersions matches the allowed triggers: those that wake a task, and those that give names a
// new version. Anything that depends on the content of a row must be Go code, in the package that
// writes the row.
var wakesOrVersions = regexp.MustCompile(`_wakes$|_naming$|^delivery_again$`)

// TestTriggers checks that no trigger has another purpose, and that design.md lists every trigger.
func TestTriggers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	design, err := os.ReadFile(filepath.Join("..", "..", "docs", "building", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := func() (out []string) {
		t.Helper()
		all, err := pg.Values[string](t.Context(), db, `select tgname::text from pg_trigger where not tgisinternal order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 5 {
			t.Errorf("only %d triggers were found", len(all))
		}
		for _, name := range all {
			if !wakesOrVersions.MatchString(name) || !strings.Contains(string(design), "`"+name+"`") {
				out = append(out, name)
			}
		}
		return out
	}
	if found := wrong(); len(found) > 0 {
		t.Errorf("write in Go what follows from a row, beside what writes it; list triggers that wake a task or version "+
			"names in docs/building/design.md: %v", found)
	}
	for _, s := range []string{
		`create function follow() returns trigger language plpgsql as $$ begin return null; end $$`,
		`create trigger account_turned after update on account for each row execute function follow()`,
		`create trigger unlisted_wakes after update on account for each row execute function follow()`,
	} {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if found := wrong(); !slices.Equal(found, []string{"account_turned", "unlisted_wakes"}) {
		t.Errorf("the control: %v", found)
	}
}

package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// TestOwnCommandsPrintJSON: commands that are not ops also print JSON with --json, and text
// otherwise.
func TestOwnCommandsPrintJSON(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	config := app.Config{
		DatabaseURL: w.Config.DatabaseURL, DatabaseMaxConns: 4, EncryptionKey: seal.NewSecret(testRing),
		Listen: strings.TrimPrefix(w.url, "http://"),
	}
	here := instance{config: config}
	for line, want := range map[string]string{
		"doctor":            `"ok":`,
		"doctor --settings": `"name":"COFFER_DATABASE_URL"`,
		"migrate":           `"schema_version":`,
		"health":            `"ready":true`,
		"login status":      `[]`,
	} {
		text, fail, code := here.run(t.Context(), 0, strings.Fields(line)...)
		if code != 0 || text == "" || json.Valid([]byte(text)) {
			t.Errorf("coffer %s: exit %d, %s%s", line, code, text, fail)
		}
		out, fail, code := here.run(t.Context(), 0, append(strings.Fields(line), "--json")...)
		if code != 0 || !json.Valid([]byte(out)) || !strings.Contains(out, want) {
			t.Errorf("coffer %s --json: exit %d, %s%s", line, code, out, fail)
		}
	}
}

// TestDoctorKnowsDevelopmentDatabases: doctor recognizes a database of a development version and
// says what to do. For an empty database it only recommends to migrate.
func TestDoctorKnowsDevelopmentDatabases(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	url := pgtest.EmptyURL(t)
	here := instance{config: app.Config{DatabaseURL: seal.NewSecret(url), DatabaseMaxConns: 4}}
	said := func() string {
		text, fail, code := here.run(t.Context(), 0, "doctor")
		if code == 0 {
			t.Errorf("the doctor is content: %s", text)
		}
		return text + fail
	}
	if text := said(); !strings.Contains(text, "run coffer migrate") || strings.Contains(text, "development version") {
		t.Errorf("an empty database: %s", text)
	}
	// The table in which the earliest versions recorded their migrations, and the table of later
	// versions.
	for _, table := range []string{"goose_db_version", "schema_version"} {
		if _, err := openDB(t, url).Exec(t.Context(), `create table `+table+` (version_id bigint)`); err != nil {
			t.Fatal(err)
		}
		if text := said(); !strings.Contains(text, "development version") ||
			!strings.Contains(text, "coffer import coffer.zip") {
			t.Errorf("a development version's, with %s: %s", table, text)
		}
	}
}

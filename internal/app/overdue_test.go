package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// TestBackupAlarmsAgree: the overview, the metric and the notification agree on whether a backup is
// overdue. It can be overdue only if coffer makes backups or has made one. Otherwise people may
// back up PostgreSQL itself.
func TestBackupAlarmsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		scheduled bool
		last      string // time until the last backup is overdue; empty without a backup
		age       string // of the household
		due       bool
	}{
		{"backed up by something else", false, "", "9 days", false},
		{"a server has just begun", true, "", "1 day", false},
		{"a server makes none", true, "", "3 days", true},
		{"by hand, in time", false, "1 hour", "9 days", false},
		{"by hand, too long ago", false, "-1 hour", "9 days", true},
		{"a server has stopped to", true, "-1 hour", "9 days", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := app.Config{EncryptionKey: keyOf("a")}
			if c.scheduled {
				config.BackupDir, config.BackupPassphrase = t.TempDir(), seal.NewSecret(backupPassphrase)
			}
			w := newWorldOn(t, pgtest.URL(t), config)
			for _, statement := range []string{
				`update instance set created_at = now() - $1::interval`,
				`insert into backup (as_of, bytes, scheduled, overdue_at)
					select now() - interval '3 days', 1, false, now() + $1::interval`,
			} {
				argument := c.age
				if strings.HasPrefix(statement, "insert") {
					argument = c.last
				}
				if argument == "" {
					continue
				}
				if _, err := w.DB.Exec(t.Context(), statement, argument); err != nil {
					t.Fatal(err)
				}
			}
			r := w.send(t, exchange{
				method: "POST", path: "/api/v1/notifications/endpoints", key: w.key, body: `{"url": "https://example.com/hook"}`,
			})
			if r.status >= 300 {
				t.Fatal(r.status, r.body)
			}
			for _, path := range []string{"/api/v1/overview", "/api/v1/settings"} {
				got := w.send(t, exchange{method: "GET", path: path, key: w.key})
				if !strings.Contains(got.body, fmt.Sprintf(`"due":%t`, c.due)) {
					t.Errorf("%s does not say due %t: %d %.400s", path, c.due, got.status, got.body)
				}
			}
			rec := httptest.NewRecorder()
			w.MetricsHandler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
			if due := strings.Contains(rec.Body.String(), "\ncoffer_backup_overdue 1"); due != c.due {
				t.Errorf("the metric says %t", due)
			}
			if err := w.Watch.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			posted, err := pg.Value[bool](t.Context(), w.DB,
				`select exists (select from notification where type = 'backup.overdue')`)
			if err != nil || posted != c.due {
				t.Errorf("posted: %t, %v", posted, err)
			}
		})
	}
}

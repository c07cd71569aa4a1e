package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
)

const (
	rulesFile     = "../../packaging/prometheus/coffer.rules.yml"
	dashboardFile = "../../packaging/grafana/coffer.json"
)

var metricName = regexp.MustCompile(`coffer_[a-z_]+`)

// TestMetricsThere: metrics that people set alerts on exist from the start with the value 0. Every
// metric in the rules, the dashboard and the guide exists.
func TestMetricsThere(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{})
	rec := httptest.NewRecorder()
	w.MetricsHandler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text := rec.Body.String()
	for _, line := range []string{
		"coffer_database_up 1", "coffer_database_disk_full 0", "coffer_internal_errors_total 0", "coffer_jobs_failed_total 0", "coffer_backup_overdue 0",
		"coffer_quarantined_rows 0", "coffer_review_transactions 0", "coffer_connections_failing 0",
		`coffer_build_info{commit="`,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("%s is missing", line)
		}
	}
	later := []string{ // series that begin with the first call, job, sync or backup
		"coffer_call_seconds", "coffer_job_seconds", "coffer_last_sync_timestamp_seconds",
		"coffer_last_backup_timestamp_seconds",
	}
	for _, file := range []string{rulesFile, dashboardFile, "../../docs/running/metrics.md"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(string(content), -1) {
			known := strings.Contains(text, "\n"+name+" ") || strings.Contains(text, "\n"+name+"{")
			for _, l := range later {
				known = known || strings.HasPrefix(name, l)
			}
			if !known {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
	}
	board, err := os.ReadFile(dashboardFile)
	if err != nil || !json.Valid(board) {
		t.Errorf("the dashboard is no JSON: %v", err)
	}
}

// TestAlertRules: the alerts fire at the first failure, and not earlier.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no promtool found: install prometheus")
		}
		t.Skip("no promtool is installed here")
	}
	cmd := exec.CommandContext(t.Context(), promtool, "test", "rules", "coffer.rules.test.yml")
	cmd.Dir = "../../packaging/prometheus"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

package app

import (
	"context"
	"sync"
	"time"

	"coffer/internal/books/overview"
	"coffer/internal/platform/op"
	"coffer/internal/settings"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	seenFor = time.Minute     // several monitors cost the database no more than one
	glance  = 2 * time.Second // that the database may take
)

// eyes are the metrics that the database knows: when something last happened, and what waits. They
// are read when somebody asks, at most once a minute, and are absent while the database is away.
type eyes struct {
	app *App

	mu   sync.Mutex
	at   time.Time
	seen []prometheus.Metric
}

var (
	lastSync = prometheus.NewDesc("coffer_last_sync_timestamp_seconds",
		"When a connection last synced successfully; absent before the first sync.", nil, nil)
	lastBackup = prometheus.NewDesc("coffer_last_backup_timestamp_seconds",
		"When the data of coffer's newest backup was read; absent without one.", nil, nil)
	backupDue = prometheus.NewDesc("coffer_backup_overdue",
		"1 if the newest backup is older than twice COFFER_BACKUP_EVERY, or a server that should make backups "+
			"has made none for two days.", nil, nil)
	failingConnections = prometheus.NewDesc("coffer_connections_failing",
		"Connections whose syncs fail, are overdue or need a person.", nil, nil)
	quarantined = prometheus.NewDesc("coffer_quarantined_rows", "Unreadable rows of banks.", nil, nil)
	toReview    = prometheus.NewDesc("coffer_review_transactions", "Transactions that wait for review.", nil, nil)
)

// Describe implements prometheus.Collector.
func (e *eyes) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lastSync, lastBackup, backupDue, failingConnections, quarantined, toReview} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (e *eyes) Collect(out chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.at) > seenFor {
		ctx, cancel := context.WithTimeout(context.Background(), glance)
		defer cancel()
		seen, err := e.look(ctx)
		e.seen = seen
		if err == nil {
			e.at = time.Now()
		}
	}
	for _, m := range e.seen {
		out <- m
	}
}

func (e *eyes) look(ctx context.Context) (out []prometheus.Metric, err error) {
	gauge := func(d *prometheus.Desc, value float64) {
		out = append(out, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value))
	}
	health, err := e.app.Overviews.Health(ctx, e.app.DB, op.None{})
	if err != nil {
		return nil, err
	}
	backup, err := settings.BackupOf(ctx, e.app.DB, e.app.Setting.Scheduled)
	if err != nil {
		return nil, err
	}
	waiting, err := overview.Reviews(ctx, e.app.DB, 0)
	if err != nil {
		return nil, err
	}
	if health.LastSuccessAt != nil {
		gauge(lastSync, float64(health.LastSuccessAt.Time().Unix()))
	}
	if backup.LastAt != nil {
		gauge(lastBackup, float64(backup.LastAt.Time().Unix()))
	}
	due := 0.0
	if backup.Due {
		due = 1
	}
	gauge(backupDue, due)
	gauge(failingConnections, float64(health.Failing+health.Overdue))
	gauge(quarantined, float64(health.Quarantined))
	gauge(toReview, float64(waiting))
	return out, nil
}

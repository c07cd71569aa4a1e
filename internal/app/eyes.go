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
	// Values are read at most once in this time, so several monitors cost no more than one.
	seenFor = time.Minute
	// The database has this long to respond.
	glance = 2 * time.Second
)

// eyes collects the metrics that come from the database: when something last happened, and what
// waits. They are read on request, at most once a minute. While the database does not respond, only
// coffer_database_up and coffer_database_disk_full are present: an alert on an absent metric would
// also fire when no server runs.
type eyes struct {
	app *App

	mu   sync.Mutex
	at   time.Time
	up   bool
	seen []prometheus.Metric
}

var (
	databaseUp = prometheus.NewDesc("coffer_database_up",
		"1 if the database responded within two seconds, else 0.", nil, nil)
	databaseFull = prometheus.NewDesc("coffer_database_disk_full",
		"1 if the database's disk was full in the last two minutes.", nil, nil)
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
	for _, d := range []*prometheus.Desc{
		databaseUp, databaseFull, lastSync, lastBackup, backupDue, failingConnections, quarantined, toReview,
	} {
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
		e.seen, e.up = seen, err == nil
		if e.up {
			e.at = time.Now()
		}
	}
	out <- prometheus.MustNewConstMetric(databaseUp, prometheus.GaugeValue, oneIf(e.up))
	out <- prometheus.MustNewConstMetric(databaseFull, prometheus.GaugeValue, oneIf(e.app.DB.Full()))
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
	gauge(backupDue, oneIf(backup.Due))
	gauge(failingConnections, float64(health.Failing+health.Overdue))
	gauge(quarantined, float64(health.Quarantined))
	gauge(toReview, float64(waiting))
	return out, nil
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

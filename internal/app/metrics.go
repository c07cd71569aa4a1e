package app

import (
	"net/http"
	"runtime"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// observer counts calls by op, surface and outcome, and watches the pool. Labels come from the
// menu, so their number is bounded.
func observer(reg *prometheus.Registry, db *pg.DB) func(string, op.Surface, string, time.Duration) {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "coffer_call_seconds", Help: "Calls of operations, by op, surface and outcome.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"op", "surface", "code"})
	pool := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	// Prometheus sees no increase in a series that begins with its first error, as the series of
	// the histogram do. This counter exists from the start.
	faults := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "coffer_internal_errors_total", Help: "Calls that ended with an internal error.",
	})
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "coffer_build_info", Help: "1, with the build's version as labels.",
	}, []string{"version", "commit", "go_version"})
	build.WithLabelValues(Version, Commit, runtime.Version()).Set(1)
	reg.MustRegister(
		faults, build, calls, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		pool("coffer_pool_connections", "Open connections to PostgreSQL.",
			func() float64 { open, _ := db.Conns(); return float64(open) }),
		pool("coffer_pool_busy", "Connections in use.", func() float64 { _, busy := db.Conns(); return float64(busy) }),
		pool("coffer_pool_waiting", "Calls and job batches waiting for their turn.",
			func() float64 { return float64(db.Waiting()) }),
	)
	return func(name string, surface op.Surface, code string, took time.Duration) {
		calls.WithLabelValues(name, string(surface), code).Observe(took.Seconds())
		if code == string(errs.InternalError) {
			faults.Inc()
		}
	}
}

// jobObserver counts the outcomes of job runs. Kinds come from the list of jobs and outcomes from
// their package, so their number is bounded.
func jobObserver(reg *prometheus.Registry) func(kind, outcome string, took time.Duration) {
	runs := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "coffer_job_seconds", Help: "Job runs, by kind and outcome.",
		Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600},
	}, []string{"kind", "outcome"})
	failed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "coffer_jobs_failed_total", Help: "Jobs that failed for good.",
	})
	reg.MustRegister(runs, failed)
	return func(kind, outcome string, took time.Duration) {
		if outcome == "failed" {
			failed.Inc()
		}
		runs.WithLabelValues(kind, outcome).Observe(took.Seconds())
	}
}

func (a *App) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	a.Metrics.MustRegister(&eyes{app: a})
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.Metrics, promhttp.HandlerOpts{}))
	return mux
}

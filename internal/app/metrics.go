package app

import (
	"net/http"
	"time"

	"coffer/internal/op"
	"coffer/internal/pg"
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
	reg.MustRegister(
		calls, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		pool("coffer_pool_connections", "Open connections to PostgreSQL.",
			func() float64 { open, _ := db.Conns(); return float64(open) }),
		pool("coffer_pool_busy", "Connections in use.", func() float64 { _, busy := db.Conns(); return float64(busy) }),
		pool("coffer_pool_waiting", "Calls and job batches waiting for their turn.",
			func() float64 { return float64(db.Waiting()) }),
	)
	return func(name string, surface op.Surface, code string, took time.Duration) {
		calls.WithLabelValues(name, string(surface), code).Observe(took.Seconds())
	}
}

// jobObserver counts the outcomes of job runs. Kinds come from the list of jobs and outcomes from
// their package, so their number is bounded.
func jobObserver(reg *prometheus.Registry) func(kind, outcome string, took time.Duration) {
	runs := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "coffer_job_seconds", Help: "Job runs, by kind and outcome.",
		Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600},
	}, []string{"kind", "outcome"})
	reg.MustRegister(runs)
	return func(kind, outcome string, took time.Duration) {
		runs.WithLabelValues(kind, outcome).Observe(took.Seconds())
	}
}

func (a *App) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.Metrics, promhttp.HandlerOpts{}))
	return mux
}

package job

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// A Kind is one kind of long work.
type Kind struct {
	Name string
	Unit string // of its progress, in the plural: "transactions"
	// Work returns the result, a JSON object, or nil for none; its context carries the requester.
	Work func(context.Context, *Run) (any, error)
	// Retries is how often a temporary failure is retried. Each batch that commits starts the count
	// again.
	Retries int
	Timeout time.Duration // of one try; 0 means an hour
	Whole   bool          // cannot be canceled, because half of the work is worse than none
	// Show returns the result as that caller may see it; nil if everyone may see the stored result.
	Show func(op.Actor, json.RawMessage) any
	Lane Lane // the workers that run it
	// Ended is called in the transaction that ends jobs of this kind, for every final state. It
	// must be fast, because it uses one of the connections reserved for leases. An error rolls back
	// the end of the jobs.
	Ended func(context.Context, pg.Tx, []Ended) error
	// Results are the possible results, for the API's documentation.
	Results []*op.Schema
}

// A Lane is a group of workers. Jobs wait only for the workers of their own lane.
type Lane int

// The lanes.
const (
	Bulk   Lane = iota // work that callers may request in bulk
	Prompt             // work that must never wait behind bulk work
	Models             // work that waits minutes for a model
	lanes
)

// workers is how many jobs of each lane one process runs at a time.
var workers = [lanes]int{Bulk: 4, Prompt: 3, Models: 2}

// An Ended is a job that has just ended. Code and Message are empty unless it failed.
type Ended struct {
	JobID   id.ID     `db:"id"`
	State   string    `db:"state"`
	Code    errs.Code `db:"code"`
	Message string    `db:"message"`
}

// A lane holds the kinds of a Lane in this process, and counts its busy workers.
type lane struct {
	busy  int
	kinds []string
}

// Jobs enqueues and runs long work.
type Jobs struct {
	db       *pg.DB
	reserved *pg.DB // for leases and claims, which must not wait for the connections that work holds
	log      *slog.Logger
	owner    string // identifies this process among all that run jobs on this database
	kinds    map[string]Kind
	clock    *schedule.Clock
	// Observe is called for every run that ends. It may be nil, and must be set before Run.
	Observe func(kind, outcome string, took time.Duration)

	tempo tempo

	views   *views
	streams streams
	begun   chan struct{} // signals that a run began
	freed   chan struct{} // signals that a worker is free

	mu      sync.Mutex
	lanes   [lanes]lane
	running map[*Run]bool
	lost    bool          // a lease had run out when next last looked
	closing chan struct{} // closed when the server stops
	closed  bool
}

// A tempo determines how fast a worker's death is noticed. A lease is renewed several times before
// it runs out, so that one slow moment of the database does not cost a worker its job.
type tempo struct{ renew, lease time.Duration }

var usual = tempo{renew: 2 * time.Second, lease: 7 * time.Second}

const (
	mostQueued   = 20             // waiting jobs of one caller
	longest      = 24 * time.Hour // the longest Timeout of any kind
	defaultTime  = time.Hour
	keptFor      = 30 * 24 * time.Hour // how long finished jobs are stored
	maxLosses    = 10
	normal       = 2
	stopPatience = 8 * time.Second // shorter than the server's own grace period
)

// New returns a Jobs without kinds. It opens no connections.
func New(db *pg.DB, log *slog.Logger) *Jobs {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	host, _ := os.Hostname() // only helps people recognize the process
	j := &Jobs{
		db: db, reserved: db.Reserved(), log: log, owner: fmt.Sprintf("%s %d %s", host, os.Getpid(), id.Base62(8)),
		kinds: map[string]Kind{}, clock: schedule.New(db, log), tempo: usual,
		running: map[*Run]bool{}, closing: make(chan struct{}),
		begun: make(chan struct{}, 1), freed: make(chan struct{}, 1),
	}
	j.views = newViews(j.readAll, j.clock.Listening)
	return j
}

// Add registers kinds. It is called while the service is being built, never later.
func (j *Jobs) Add(kinds ...Kind) {
	for _, k := range kinds {
		if k.Name == "" || k.Unit == "" || k.Work == nil || k.Timeout > longest || k.Lane < 0 || k.Lane >= lanes {
			panic("job: a kind needs a name, a unit, work, a lane, and a timeout of at most a day: " + k.Name)
		}
		if k.Timeout == 0 {
			k.Timeout = defaultTime
		}
		j.kinds[k.Name] = k
		j.mu.Lock()
		l := &j.lanes[k.Lane]
		l.kinds = append(slices.Clone(l.kinds), k.Name)
		j.mu.Unlock()
	}
}

// Options are optional properties of a job. Zero values are usable defaults.
type Options struct {
	Unique string // if a job of the same kind and key is queued or running, it is returned, and no new one is created
	// Again applies to orders with Unique. A job that is already running may have read its data too
	// early for this call. With Again, one more job follows it, however many calls request that.
	Again    bool
	RunAt    time.Time // not before then
	Priority int       // 1 is first, 4 is last; 0 means 2
	ID       id.ID     // of a new job, for a record with the same id; zero generates one
}

// An Order is a request for a job.
type Order struct {
	Args any
	Options
}

// Enqueue adds a job in tx, on behalf of the caller: the job exists if and only if tx commits.
func (j *Jobs) Enqueue(ctx context.Context, tx pg.Tx, kind string, args any, o Options) (Job, error) {
	made, err := j.EnqueueAll(ctx, tx, kind, []Order{{args, o}})
	if err != nil {
		return Job{}, err
	}
	return made[0], nil
}

// EnqueueAll is Enqueue for many jobs of a kind. It needs as few statements as Enqueue does for one
// job, and returns the jobs in the given order.
func (j *Jobs) EnqueueAll(ctx context.Context, tx pg.Tx, kind string, orders []Order) ([]Job, error) {
	k, ok := j.kinds[kind]
	if !ok {
		return nil, fmt.Errorf("job: unknown kind %q", kind)
	}
	b, err := newBatch(k, orders)
	if err != nil {
		return nil, err
	}
	if err := b.yield(ctx, tx); err != nil {
		return nil, err
	}
	for range 20 {
		if err := b.insert(ctx, tx, j); err != nil {
			return nil, err
		}
		if err := b.join(ctx, tx, j); err != nil {
			return nil, err
		}
		if len(b.open) == 0 {
			return b.jobs, nil
		}
		// The jobs to join ended between the two statements.
	}
	return nil, errs.New(errs.Unavailable, "the same job was restarted too often; try again")
}

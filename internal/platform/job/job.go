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
	// tries after the first that failures which may pass are given; each batch that commits starts
	// the count again
	Retries int
	Timeout time.Duration // of one try; 0 means an hour
	Whole   bool          // it cannot be canceled: half of it is worse than none
	// the result as that caller may see it; nil where everyone sees what is stored
	Show func(op.Actor, json.RawMessage) any
	Lane Lane // whose workers it takes
	// called in the transaction that ends jobs of this kind, however they end; it is short, because
	// the connection is one of those that leases need, and its error undoes the end as well
	Ended func(context.Context, pg.Tx, []Ended) error
	// the possible results, for the description of the interface
	Results []*op.Schema
}

// A Lane is a group of workers. Jobs wait only for the workers of their own lane.
type Lane int

// The lanes.
const (
	Bulk   Lane = iota // what callers may ask for in bulk
	Prompt             // what must never wait behind bulk
	Models             // what waits minutes for a model's answer
	lanes
)

// workers are the jobs of each lane that one process works on at once.
var workers = [lanes]int{Bulk: 4, Prompt: 3, Models: 2}

// An Ended is a job that has just ended. Code and Message are empty unless it failed.
type Ended struct {
	JobID   id.ID     `db:"id"`
	State   string    `db:"state"`
	Code    errs.Code `db:"code"`
	Message string    `db:"message"`
}

// A lane is the kinds of a Lane in this process, and how many of its workers are busy.
type lane struct {
	busy  int
	kinds []string
}

// Jobs enqueues and runs long work.
type Jobs struct {
	db       *pg.DB
	reserved *pg.DB // for leases and claims, which must not wait for the connections that work holds
	log      *slog.Logger
	owner    string // this process, among all that run jobs on this database
	kinds    map[string]Kind
	clock    *schedule.Clock
	// Observe is called for every run that ends; it may be nil, and is set before Run.
	Observe func(kind, outcome string, took time.Duration)

	tempo tempo

	views   *views
	streams streams
	begun   chan struct{} // signals that a run began
	freed   chan struct{} // signals that a worker is free

	mu      sync.Mutex
	lanes   [lanes]lane
	running map[*Run]bool
	lost    bool          // a lease has run out, as far as the last look saw
	closing chan struct{} // closed when the server stops
	closed  bool
}

// A tempo is how fast the death of a worker is noticed. A lease is renewed several times before it
// runs out, so that a slow moment of the database costs nobody his job.
type tempo struct{ renew, lease time.Duration }

var usual = tempo{renew: 2 * time.Second, lease: 7 * time.Second}

const (
	mostQueued   = 20             // jobs of one caller that wait
	longest      = 24 * time.Hour // that any try may take
	defaultTime  = time.Hour
	keptFor      = 30 * 24 * time.Hour // finished jobs
	maxLosses    = 10
	normal       = 2
	stopPatience = 8 * time.Second // within the server's own grace
)

// New returns a Jobs without kinds. It opens no connections.
func New(db *pg.DB, log *slog.Logger) *Jobs {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	host, _ := os.Hostname() // only to be recognized by people
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
	Unique string // a live job of the same kind and key is joined: it is answered, and no other is made
	// of Unique: where the job runs already it may have read past what this call is about, so that
	// it is followed by one more, however many ask meanwhile
	Again    bool
	RunAt    time.Time // not before then
	Priority int       // 1 goes first, 4 last; 0 means 2
	ID       id.ID     // of a new job, for a record that shares it; zero draws one
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

// EnqueueAll is Enqueue for many jobs of a kind, in as many statements as for one. It returns them
// in the given order.
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
		// The others ended between the two statements.
	}
	return nil, errs.New(errs.Unavailable, "the same job was restarted too often; try again")
}

package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// A Kind is one kind of long work.
type Kind struct {
	Name string
	Unit string // of its progress, in the plural: "transactions"
	// answers the result, an object in JSON, or nil for none; its context carries who asked
	Work func(context.Context, *Run) (any, error)
	// tries after the first that failures which may pass are given; each batch that commits starts
	// the count again
	Retries int
	Timeout time.Duration // of one try; 0 means an hour
	Whole   bool          // it cannot be cancelled: half of it is worse than none
	// the result as that caller may see it; nil where everyone sees what is stored
	Show func(op.Actor, json.RawMessage) any
	// it has workers of its own, so that it never waits behind what callers ask for in bulk
	Prompt bool
}

// promptQueue is River's name for the tickets of prompt kinds.
const promptQueue = "prompt"

func (k Kind) queue() string {
	if k.Prompt {
		return promptQueue
	}
	return river.QueueDefault
}

// Jobs enqueues and runs long work.
type Jobs struct {
	db    *pg.DB
	desk  *pg.DB // for leases and claims, which must not wait for the connections that work holds
	log   *slog.Logger
	owner string // this process, among all that run jobs on this database
	kinds map[string]Kind
	river func() (*river.Client[pgx.Tx], error)
	// Observe is told of every run that ends; it may be nil, and is set before Run.
	Observe func(kind, outcome string, took time.Duration)

	tempo tempo

	views   *views
	streams streams
	put     chan struct{} // told that jobs were put

	mu      sync.Mutex
	running map[*Run]bool
	closing chan struct{} // closed when the server stops
	closed  bool
}

// A tempo is how fast the death of a worker is noticed. A lease is renewed several times before it
// runs out, so that a slow moment of the database costs nobody his job.
type tempo struct{ renew, look, lease time.Duration }

var usual = tempo{renew: 2 * time.Second, look: 3 * time.Second, lease: 7 * time.Second}

const (
	workers      = 4              // jobs at once in one process
	promptly     = 3              // prompt ones beside them
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
	host, _ := os.Hostname() // only to be recognised by people
	j := &Jobs{
		db: db, desk: db.Reserved(), log: log, owner: fmt.Sprintf("%s %d %s", host, os.Getpid(), id.Base62(8)),
		kinds: map[string]Kind{}, tempo: usual,
		running: map[*Run]bool{}, closing: make(chan struct{}), put: make(chan struct{}, 1),
	}
	j.river, j.views = sync.OnceValues(j.client), newViews(j.readAll)
	return j
}

// Add registers kinds. It is called while the service is being built, never later.
func (j *Jobs) Add(kinds ...Kind) {
	for _, k := range kinds {
		if k.Name == "" || k.Unit == "" || k.Work == nil || k.Timeout > longest {
			panic("job: a kind needs a name, a unit, work, and a timeout of at most a day: " + k.Name)
		}
		if k.Timeout == 0 {
			k.Timeout = defaultTime
		}
		j.kinds[k.Name] = k
	}
}

// A ticket is what River carries: a word that a job should be looked at. Whether it is then run the
// job's own row decides.
type ticket struct {
	Job id.ID `json:"job"`
}

// Kind implements river.JobArgs.
func (ticket) Kind() string { return "job" }

type clerk struct {
	river.WorkerDefaults[ticket]
	jobs *Jobs
}

// Work implements river.Worker.
func (c *clerk) Work(ctx context.Context, t *river.Job[ticket]) error {
	return c.jobs.take(ctx, t.Args.Job, t.ID)
}

func (j *Jobs) client() (*river.Client[pgx.Tx], error) {
	hands := river.NewWorkers()
	river.AddWorker(hands, &clerk{jobs: j})
	c, err := river.NewClient(riverpgxv5.New(j.desk.Pool), &river.Config{
		ID: j.owner, Schema: schema, Workers: hands,
		Queues: map[string]river.QueueConfig{
			river.QueueDefault: {MaxWorkers: workers},
			promptQueue:        {MaxWorkers: promptly},
		},
		Logger: slog.New(quiet{j.log.Handler()}), MaxAttempts: 1, // a ticket that was not honoured is written again
		// no job waits for this: leases notice a dead worker
		JobTimeout: longest + time.Hour, RescueStuckJobsAfter: longest + 2*time.Hour,
		ReindexerSchedule: river.NeverSchedule(),
	})
	if err != nil {
		return nil, fmt.Errorf("job dispatcher: %w", err)
	}
	return c, nil
}

// quiet passes on what is at least a warning: what River does in a normal hour interests nobody.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// Options are optional properties of a job. Zero values are usable defaults.
type Options struct {
	Unique string // a live job of the same kind and key is joined: it is answered, and no other is made
	// of Unique: where the job runs already it may have read past what this call is about, so that
	// it is followed by one more, however many ask meanwhile
	Again    bool
	RunAt    time.Time // not before then
	Priority int       // 1 goes first, 4 last; 0 means 2
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
	for range 5 {
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
	return nil, errs.New(errs.Unavailable, "the same job keeps starting and finishing; try again")
}

// A due is a job that a worker should be told of.
type due struct {
	ID       id.ID  `db:"id"`
	Kind     string `db:"kind"`
	Priority int    `db:"priority"`
}

// dispatch writes tickets for queued jobs, all in three statements. A job that is not due yet gets
// none: whoever looks first after that moment writes it.
func (j *Jobs) dispatch(ctx context.Context, tx pg.Tx, jobs []due) error {
	if len(jobs) == 0 {
		return nil
	}
	client, err := j.river()
	if err != nil {
		return err
	}
	whole, ok := tx.(pgx.Tx)
	if !ok {
		return errors.New("job: River needs a transaction of pgx")
	}
	tickets := make([]river.InsertManyParams, len(jobs))
	for i, d := range jobs {
		tickets[i] = river.InsertManyParams{
			Args:       ticket{d.ID},
			InsertOpts: &river.InsertOpts{Priority: d.Priority, Queue: j.kinds[d.Kind].queue()},
		}
	}
	written, err := client.InsertManyTx(ctx, whole, tickets)
	if err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	ids, numbers := make([]id.ID, 0, len(jobs)), make([]int64, 0, len(jobs))
	for i, d := range jobs {
		ids, numbers = append(ids, d.ID), append(numbers, written[i].Job.ID)
	}
	_, err = pg.Exec(ctx, tx, `
		update job set dispatch = t.number, dispatched_at = clock_timestamp()
		from unnest($1::uuid[], $2::bigint[]) as t (id, number) where job.id = t.id`, ids, numbers)
	return err
}

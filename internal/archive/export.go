package archive

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	exportKind = "archive.export"
	linkLife   = 15 * time.Minute
	partSize   = 1 << 20
)

// CreateExport is the input of CreateExport.
type CreateExport struct {
	Format string `json:"format,omitempty" enum:"archive,csv,hledger,beancount" default:"archive" doc:"archive contains everything, for coffer import on another installation; the other formats contain only transactions"`
}

// A request holds the arguments of the job.
type request struct {
	Export id.ID  `json:"export_id"`
	Format string `json:"format"`
	Asker  string `json:"asker"`
}

// A done is the stored result of the job. It does not contain the link, which can only be created
// with the requester's credential.
type done struct {
	Export  id.ID   `json:"export_id"`
	Asker   string  `json:"asker"`
	Expires pg.Time `json:"expires_at"`
}

// asker returns a fingerprint of a caller's credential that does not reveal it. Only a caller with
// the same credential can create the link.
func asker(actor op.Actor) string {
	mac := hmac.New(sha256.New, actor.Bond[:])
	mac.Write([]byte("requester of exports"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// An ExportLink is an address where an export can be downloaded once.
type ExportLink struct {
	URL     *string `json:"url"` // null unless the caller requested the export
	Expires pg.Time `json:"expires_at"`
}

// token returns the secret of the link. It is derived from the caller's credential, which is not
// stored. So the same caller can get it again, and a reader of the database cannot compute it.
func token(actor op.Actor, export id.ID) string {
	mac := hmac.New(sha256.New, actor.Bond[:])
	mac.Write([]byte("export " + export.String()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// CreateExport starts a job that writes a file. If such a job of the caller is already running for
// the format, it returns that job.
func (a *Archive) CreateExport(ctx context.Context, tx pg.Tx, in CreateExport) (job.Job, error) {
	actor := op.ActorOf(ctx)
	if actor.Bond == (op.Actor{}).Bond {
		return job.Job{}, errs.New(errs.ValidationError,
			"a download link requires an API key; on the server, use coffer export")
	}
	r := request{Export: id.New(), Format: in.Format, Asker: asker(actor)}
	made, err := a.jobs.Enqueue(ctx, tx, exportKind, r, job.Options{Unique: r.Asker + " " + r.Format})
	if err != nil {
		return job.Job{}, err
	}
	// A new file replaces the caller's last one of this format, unless somebody is downloading that
	// one. A call that joins a job creates no file.
	hash := sha256.Sum256([]byte(token(actor, r.Export)))
	_, err = pg.Exec(ctx, tx, `
		with made as (
			insert into export (id, format, token_hash, asker)
			select @export::uuid, @format::text, @hash, @asker::text
				where exists (select from job where id = @job and args ->> 'export_id' = (@export::uuid)::text)
			returning id)
		delete from export where asker = @asker::text and format = @format::text and taken_at is null
			and exists (select from made)`,
		pg.Args{"export": r.Export, "format": r.Format, "hash": hash[:], "asker": r.Asker, "job": made.ID})
	return made, err
}

// Kinds returns the kinds of jobs of exports and erasure.
func (a *Archive) Kinds() []job.Kind {
	return []job.Kind{
		{
			Name: exportKind, Unit: "rows", Work: a.runExport, Show: a.show, Retries: 2,
			Results: []*op.Schema{op.SchemaOf[ExportLink]()},
		},
		{Name: eraseKind, Unit: "rows", Work: a.runErase, Retries: 20, Timeout: 12 * time.Hour, Whole: true},
	}
}

// show creates the link for the requester. Everybody else gets only the expiry time.
func (a *Archive) show(actor op.Actor, stored json.RawMessage) any {
	var d done
	if json.Unmarshal(stored, &d) != nil {
		return nil
	}
	l := ExportLink{Expires: d.Expires}
	if actor.Bond != (op.Actor{}).Bond && asker(actor) == d.Asker {
		l.URL = new(a.base + "/exports/" + token(actor, d.Export))
	}
	return l
}

// runExport writes the file, piece by piece. All of it is from one snapshot, so an interrupted run
// must begin again.
func (a *Archive) runExport(ctx context.Context, r *job.Run) (any, error) {
	var in request
	if err := r.Args(&in); err != nil {
		return nil, err
	}
	err := r.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		_, err := pg.Exec(ctx, tx, `delete from export_part where export_id = $1`, in.Export)
		return job.Step{}, err
	})
	if err != nil {
		return nil, err
	}
	w := &parts{ctx: ctx, run: r, export: in.Export}
	if err := a.Write(ctx, w, in.Format, func(rows int64) { w.rows += rows }); err != nil {
		return nil, err
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	out := done{Export: in.Export, Asker: in.Asker}
	err = r.Batch(ctx, func(ctx context.Context, tx pg.Tx) (step job.Step, err error) {
		out.Expires, err = pg.Value[pg.Time](ctx, tx, `
			update export set bytes = $2, expires_at = clock_timestamp() + make_interval(secs => $3) where id = $1
				returning expires_at`, in.Export, w.bytes, linkLife.Seconds())
		return job.Step{}, err
	})
	return out, err
}

// parts is a writer that stores pieces in the database. Each piece is committed with the job's
// progress.
type parts struct {
	ctx    context.Context //nolint:containedctx // a writer has no other way to know it
	run    *job.Run
	export id.ID
	held   []byte
	number int
	bytes  int64
	rows   int64 // written but not yet reported as progress
}

// Write implements io.Writer.
func (p *parts) Write(b []byte) (int, error) {
	p.held = append(p.held, b...)
	for len(p.held) >= partSize {
		if err := p.store(p.held[:partSize]); err != nil {
			return 0, err
		}
		p.held = append(p.held[:0], p.held[partSize:]...)
	}
	return len(b), nil
}

func (p *parts) flush() error { return p.store(p.held) }

func (p *parts) store(content []byte) error {
	p.number++
	p.bytes += int64(len(content))
	return p.run.Batch(p.ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		_, err := pg.Exec(ctx, tx, `insert into export_part (export_id, number, content)
			values ($1, $2, $3)`, p.export, p.number, content)
		step := job.Step{Done: p.rows}
		p.rows = 0
		return step, err
	})
}

// A file is an export that is being downloaded.
type file struct {
	ID     id.ID  `db:"id"`
	Format string `db:"format"`
	Bytes  int64  `db:"bytes"`
	Day    string `db:"day"`
}

var endings = map[string][2]string{
	"archive": {"zip", "application/zip"}, "csv": {"csv", "text/csv; charset=utf-8"},
	"hledger": {"journal", "text/plain; charset=utf-8"}, "beancount": {"beancount", "text/plain; charset=utf-8"},
}

// Download sends a file to the first caller who has its link. After that the link is invalid,
// however the download ends.
func (a *Archive) Download(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet { // checking a link must not use it up
		return errs.New(errs.MethodNotAllowed, "use GET for this URL")
	}
	ctx := r.Context()
	hash := sha256.Sum256([]byte(r.PathValue("token")))
	f, err := pg.One[file](ctx, a.db, `
		update export set taken_at = clock_timestamp() where token_hash = $1 and taken_at is null
			and expires_at > clock_timestamp()
		returning id, format, bytes, to_char(created_at, 'YYYY-MM-DD') as day`, hash[:])
	if errors.Is(err, pg.ErrNoRow) {
		return errs.New(errs.NotFound,
			"this link was already used, has expired or does not exist; create another with {export.create}")
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", endings[f.Format][1])
	h.Set("Content-Length", strconv.FormatInt(f.Bytes, 10))
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="coffer-%s.%s"`, f.Day, endings[f.Format][0]))
	control := http.NewResponseController(w)
	for number, left := 1, f.Bytes; left > 0; number++ {
		content, err := pg.Value[[]byte](ctx, a.db, `select content from export_part
			where export_id = $1 and number = $2`, f.ID, number)
		if left -= int64(len(content)); err == nil && left == 0 {
			// Delete the file before the client has the last piece, because the client may
			// disconnect then.
			_, err = pg.Exec(ctx, a.db, `delete from export where id = $1`, f.ID)
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the response has begun; an early end shows that it is incomplete
		}
		_ = control.SetWriteDeadline(time.Now().Add(time.Minute)) // per piece; some writers do not support it
		if _, err := w.Write(content); err != nil {
			return nil //nolint:nilerr // the client has gone; the rest is swept
		}
	}
	return nil
}

// Forget deletes files that were downloaded or have expired. Every replica may run it.
func (a *Archive) Forget(ctx context.Context) error {
	_, err := pg.Exec(ctx, a.db, `
		delete from export where id in (
			select id from export
				where coalesce(taken_at + interval '1 hour', expires_at,
				created_at + interval '1 day') < clock_timestamp() limit 100 for update skip locked)`)
	return err
}

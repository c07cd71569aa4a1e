package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/bank/csvfile"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/statement"
	"coffer/internal/text"
)

// ImportKind is the job that puts a file into the books.
const ImportKind = "feed.import"

// A FileAccount is an account that a file makes.
type FileAccount struct {
	Name     string         `json:"name" minLength:"1" maxLength:"200" format:"line"`
	Type     string         `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"depository if omitted"`
	Currency money.Currency `json:"iso_currency_code" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
}

// ImportFile is the input of ImportFile.
type ImportFile struct {
	ID        string                 `json:"id" minLength:"1" doc:"The connection's UUID or short id"`
	CSV       string                 `json:"csv" minLength:"1" format:"file" doc:"The file, as in the preview"`
	Options   *statement.FileOptions `json:"options,omitempty" doc:"How it is read, as in the preview; what is left out is as the connection's last file was read, or found out"`
	AccountID *string                `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account that it goes into: UUID or short id; without it the connection's only one"`
	Account   *FileAccount           `json:"account,omitempty" doc:"An account to be made for it"`
	statement.FileOptions
}

// A delivery is a file that a job puts into the books.
type delivery struct {
	Connection id.ID           `json:"connection_id"`
	Account    id.ID           `json:"account_id"`
	Upload     id.ID           `json:"upload_id"`
	Options    json.RawMessage `json:"options"`
}

// ImportFile takes the import of a file on as a job.
func (f *Feed) ImportFile(ctx context.Context, tx pg.Tx, in ImportFile) (job.Job, error) {
	c, err := f.lockConnection(ctx, tx, in.ID)
	if err != nil {
		return job.Job{}, err
	}
	if c.Provider != "csv" || c.Status == "disconnected" {
		return job.Job{}, errs.New(errs.ConnNotSyncable, "files go into connections with provider csv that are not disconnected; make one with POST /api/v1/connections")
	}
	raw, err := statement.Content(in.CSV)
	if err != nil {
		return job.Job{}, err
	}
	remembered, err := pg.Value[[]byte](ctx, tx, `select csv_options from connection where id = $1`, c.ID)
	if err != nil {
		return job.Job{}, err
	}
	account, currency, err := f.fileAccount(ctx, tx, c, in)
	if err != nil {
		return job.Job{}, err
	}
	said := statement.Either(in.Options, in.FileOptions)
	if said.DefaultCurrency == nil { // that of the account, whatever the file before was for
		said.DefaultCurrency = &currency
	}
	o, err := said.Reading(remembered)
	if err != nil {
		return job.Job{}, err
	}
	p, err := csvfile.Inspect(bytes.NewReader(raw), o)
	if err != nil && remembered != nil { // the bank writes its files otherwise now
		if o, err = said.Reading(nil); err == nil {
			p, err = csvfile.Inspect(bytes.NewReader(raw), o)
		}
	}
	if err != nil {
		return job.Job{}, err
	}
	settled, err := statement.Settle(o, p)
	if err != nil {
		return job.Job{}, err
	}
	upload := id.New()
	if _, err := pg.Exec(ctx, tx, `insert into upload (id, content) values ($1, $2)`, upload, raw); err != nil {
		return job.Job{}, err
	}
	if _, err := pg.Exec(ctx, tx, `update connection set csv_options = $2, updated_at = clock_timestamp() where id = $1`, c.ID, settled); err != nil {
		return job.Job{}, err
	}
	return f.jobs.Enqueue(ctx, tx, ImportKind, delivery{c.ID, account, upload, settled}, job.Options{})
}

// fileAccount is the account that a file goes into: the one that was named, one that is made for it, or the connection's only one.
func (f *Feed) fileAccount(ctx context.Context, tx pg.Tx, c Connection, in ImportFile) (id.ID, money.Currency, error) {
	type row struct {
		ID       id.ID          `db:"id"`
		ShortID  string         `db:"short_id"`
		Currency money.Currency `db:"currency"`
	}
	rows, err := pg.All[row](ctx, tx, `select id, short_id, currency from account where connection_id = $1 order by id for update`, c.ID)
	if err != nil {
		return id.ID{}, "", err
	}
	switch {
	case in.AccountID != nil && in.Account != nil:
		return id.ID{}, "", errs.Field("account", "conflict", "must be left out when account_id is given")
	case in.AccountID != nil:
		for _, r := range rows {
			if r.ShortID == *in.AccountID || r.ID.String() == strings.ToLower(*in.AccountID) {
				return r.ID, r.Currency, nil
			}
		}
		return id.ID{}, "", pg.Named(pg.ErrNoRow, "account_id", "account of this connection", "GET /api/v1/accounts lists them")
	case in.Account == nil && len(rows) == 1:
		return rows[0].ID, rows[0].Currency, nil
	case in.Account == nil && len(rows) > 1:
		return id.ID{}, "", errs.Field("account_id", "required", "is required: this connection has several accounts")
	}
	usual, err := statement.UsualCurrency(ctx, tx)
	if err != nil {
		return id.ID{}, "", err
	}
	a := ledger.NewAccount{ConnectionID: &c.ID, Provider: "csv", ProviderID: id.Base62(12), Name: text.Name("Imported"), Type: "depository", Currency: usual}
	if in.Account != nil {
		a.Name, a.Currency = text.Name(in.Account.Name), in.Account.Currency
		if in.Account.Type != "" {
			a.Type = in.Account.Type
		}
	} else if said := statement.Either(in.Options, in.FileOptions).DefaultCurrency; said != nil {
		a.Currency = *said
	}
	made, err := f.books.AddAccounts(ctx, tx, []ledger.NewAccount{a})
	if err != nil {
		return id.ID{}, "", err
	}
	return made[0], a.Currency, nil
}

// Imported is the result of an import.
type Imported struct {
	Added      int64      `json:"added"`
	Duplicates int64      `json:"duplicates" doc:"Rows that were there already"`
	Rejected   []Rejected `json:"rejected"`
	AccountID  id.ID      `json:"account_id"`
	ChangeID   *id.ID     `json:"change_id" doc:"The change that a revert undoes: what was added goes again"`
	SyncLogID  id.ID      `json:"sync_log_id"`
}

// A Rejected is a row that could not be read.
type Rejected struct {
	Row    int    `json:"row"`
	Reason string `json:"reason"`
}

const (
	importPart   = 5000
	mostRejected = 200
)

// importFile is the job: all rows that can be read go in together, or none does.
func (f *Feed) importFile(ctx context.Context, run *job.Run) (any, error) {
	var d delivery
	if err := run.Args(&d); err != nil {
		return nil, err
	}
	var o csvfile.Options
	if err := json.Unmarshal(d.Options, &o); err != nil {
		return nil, fmt.Errorf("read the job's options: %w", err)
	}
	var out Imported
	if stored, err := run.Position(&out); stored || err != nil { // by a run that was cut off behind its one batch
		f.follow(ctx, run)
		return out, err
	}
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		raw, err := fetch(ctx, tx, d.Upload)
		if err != nil {
			return job.Step{}, err
		}
		out = Imported{AccountID: d.Account, Rejected: []Rejected{}}
		done, err := f.take(ctx, tx, run.ID(), d, bytes.NewReader(raw), o, &out)
		if err != nil {
			return job.Step{}, err
		}
		_, err = pg.Exec(ctx, tx, `delete from upload where id = $1`, d.Upload)
		return job.Step{Done: done, Total: done, Position: out}, err
	})
	if err == nil {
		f.follow(ctx, run)
	}
	return out, err
}

// fetch reads a file piece by piece, so that it is held once: what comes in one answer stands in the connection's buffer too.
func fetch(ctx context.Context, q pg.Querier, upload id.ID) ([]byte, error) {
	const piece = 2 << 20
	size, err := pg.Value[int](ctx, q, `select length(content) from upload where id = $1`, upload)
	if err != nil {
		return nil, err
	}
	file := make([]byte, 0, size)
	for len(file) < size {
		next, err := pg.Value[[]byte](ctx, q, `select substring(content from $2 for $3) from upload where id = $1`, upload, len(file)+1, piece)
		if err != nil {
			return nil, err
		}
		file = append(file, next...)
	}
	return file, nil
}

// take puts the file's rows into the books, part by part within one transaction.
func (f *Feed) take(ctx context.Context, tx pg.Tx, run id.ID, d delivery, file *bytes.Reader, o csvfile.Options, out *Imported) (int64, error) {
	p, err := csvfile.Inspect(file, o)
	if err != nil {
		return 0, err
	}
	if _, err := lockLink(ctx, tx, d.Connection); err != nil { // before the account, as those do who take an import on
		return 0, err
	}
	at := place{}
	if at.Log, err = startLog(ctx, tx, order{d.Connection, "import"}, run); err != nil {
		return 0, err
	}
	var prints csvfile.Fingerprints
	var part []ledger.Incoming
	var entries []journal.Entry
	flush := func() error {
		made, err := f.part(ctx, tx, part, &at)
		entries, part = append(entries, made...), part[:0]
		return err
	}
	for row, err := range csvfile.Read(file, p) {
		if no, is := errors.AsType[*csvfile.RowError](err); is {
			if no.Skip {
				continue
			}
			if at.Quarantined++; len(out.Rejected) < mostRejected {
				out.Rejected = append(out.Rejected, Rejected{no.Row, no.Message})
			}
			continue
		}
		if err != nil {
			return 0, err
		}
		in, err := fromFile(d.Account, row, o.DefaultCurrency, prints.Of(row))
		if err != nil {
			return 0, err
		}
		if part = append(part, in); len(part) == importPart {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	if err := flush(); err != nil {
		return 0, err
	}
	at.Change, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Import, Summary: fmt.Sprintf("Imported %d transactions", at.Added)}, entries)
	if err != nil {
		return 0, err
	}
	if err := f.writeLog(ctx, tx, &at, true); err != nil {
		return 0, err
	}
	_, err = pg.Exec(ctx, tx, `update connection set last_sync_at = clock_timestamp(), last_attempt_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1`, d.Connection)
	out.Added, out.Duplicates, out.ChangeID, out.SyncLogID = at.Added, at.Unchanged+at.Modified, at.Change, at.Log
	return at.Added + at.Unchanged + at.Modified, err
}

// part merges some rows and runs the rules. What is new is recorded as having been away before, so that a revert takes it away again.
func (f *Feed) part(ctx context.Context, tx pg.Tx, rows []ledger.Incoming, at *place) ([]journal.Entry, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	m, hits, err := f.rules.Merge(ctx, tx, at.Log, rows)
	if err != nil {
		return nil, err
	}
	away, err := pg.Value[string](ctx, tx, `select clock_timestamp()::text`)
	if err != nil {
		return nil, err
	}
	source := "provider"
	entries := make([]journal.Entry, 0, len(m.Inserted)+len(m.Entries))
	for _, u := range m.Inserted {
		entries = append(entries, journal.Entry{Subject: journal.Transaction, SubjectID: u, Field: journal.FieldDeleted, Before: &away, BeforeSource: &source})
	}
	at.Added, at.Modified, at.Unchanged, at.RulesHit, at.Pages = at.Added+int64(len(m.Inserted)), at.Modified+int64(len(m.Changed))+m.Touched, at.Unchanged+m.Unchanged, at.RulesHit+hits, at.Pages+1
	return append(entries, m.Entries...), nil
}

// fromFile is a row of a file as the ledger takes it.
func fromFile(account id.ID, r csvfile.Row, currency money.Currency, mark string) (ledger.Incoming, error) {
	day, err := pg.ParseDate(r.Date)
	if err != nil {
		return ledger.Incoming{}, fmt.Errorf("row %d: %w", r.Number, err)
	}
	if r.Currency != "" {
		currency = r.Currency
	}
	return ledger.Incoming{
		AccountID: account, ProviderID: mark, Date: day, Amount: r.Amount, Currency: currency, Name: r.Name, MerchantName: r.MerchantName, CategoryPrimary: r.Category,
	}, nil
}

// ForgetUploads drops files whose job failed or was cancelled, a day after they came.
func (f *Feed) ForgetUploads(ctx context.Context) error {
	_, err := pg.Exec(ctx, f.db, `delete from upload where created_at < now() - interval '1 day'`)
	return err
}

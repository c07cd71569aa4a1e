package feed

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/bank/csvfile"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/rulebook"
	"coffer/internal/text"
)

// ImportKind is the job that puts a file into the books.
const ImportKind = "feed.import"

// FileOptions are what a caller knows about a file; the rest is found out.
type FileOptions struct {
	Encoding         *string                    `json:"encoding,omitempty" minLength:"1" maxLength:"20" doc:"utf-8, utf-16le, utf-16be, windows-1252 or windows-1250"`
	Delimiter        *string                    `json:"delimiter,omitempty" minLength:"1" maxLength:"9" doc:"A comma, semicolon, tab or pipe, as such or by name"`
	HeaderRow        op.Null[int]               `json:"header_row,omitzero" minimum:"0" maximum:"1000" doc:"Counted from 1; 0 or null for none"`
	DateFormat       *string                    `json:"date_format,omitempty" minLength:"1" maxLength:"20" example:"DD/MM/YYYY"`
	DecimalSeparator *string                    `json:"decimal_separator,omitempty" pattern:"^[.,]$" hint:"be . or ,"`
	AmountSign       *string                    `json:"amount_sign,omitempty" enum:"negative_out,positive_out,split,flag" doc:"What tells money out from money in"`
	Mapping          map[string]json.RawMessage `json:"mapping,omitempty" doc:"Which column holds what: date, amount, debit, credit, name, … by index from 0 or by name"`
	DefaultCurrency  *money.Currency            `json:"default_currency,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Of rows that state none"`
}

// options is what the file's reader takes, with what the connection remembers where nothing is said.
func (o FileOptions) options(remembered []byte) (csvfile.Options, error) {
	var out csvfile.Options
	if remembered != nil {
		if err := json.Unmarshal(remembered, &out); err != nil {
			return out, fmt.Errorf("remembered mapping: %w", err)
		}
	}
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&out.Encoding, o.Encoding)
	set(&out.Delimiter, o.Delimiter)
	set(&out.DateFormat, o.DateFormat)
	set(&out.AmountSign, o.AmountSign)
	set(&out.DecimalSeparator, o.DecimalSeparator)
	if o.HeaderRow.Set {
		out.HeaderRow = new(0)
		if o.HeaderRow.Value != nil {
			out.HeaderRow = o.HeaderRow.Value
		}
	}
	if o.DefaultCurrency != nil {
		out.DefaultCurrency = *o.DefaultCurrency
	}
	if o.Mapping != nil {
		raw, err := json.Marshal(o.Mapping)
		if err != nil {
			return out, fmt.Errorf("print mapping: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		out.Mapping = &csvfile.Mapping{}
		if err := d.Decode(out.Mapping); err != nil {
			return out, errs.Field("mapping", "type", "must name columns by index from 0 or by name, under date, amount, debit, credit, name, merchant_name, category, account, currency, id, balance")
		}
	}
	return out, nil
}

// PreviewFile is the input of PreviewFile.
type PreviewFile struct {
	CSV       string       `json:"csv" minLength:"1" format:"file" doc:"The file's text; a file that is not UTF-8 as data:text/csv;base64,… in JSON, or as it is in a body of type text/csv"`
	Options   *FileOptions `json:"options,omitempty" doc:"What is known about the file; in a text/csv request the same as query parameters"`
	AccountID *string      `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account that the file is for, to count what is stored already: UUID or short id"`
	FileOptions
}

// A FilePreview is how a file is read.
type FilePreview struct {
	Encoding         string               `json:"encoding"`
	Delimiter        string               `json:"delimiter"`
	HeaderRow        *int                 `json:"header_row" doc:"Counted from 1; null where the file has no header"`
	Columns          []csvfile.ColumnInfo `json:"columns" doc:"Untrusted: names and samples are the file's"`
	Mapping          json.RawMessage      `json:"mapping" object:"any" doc:"Which column holds what, by index from 0; edit it and give it to the import"`
	DateFormat       string               `json:"date_format"`
	DecimalSeparator string               `json:"decimal_separator"`
	AmountSign       string               `json:"amount_sign"`
	Confidence       string               `json:"confidence" enum:"high,medium,low"`
	KnownFormat      *string              `json:"known_format"`
	RowsTotal        int                  `json:"rows_total"`
	RowsRejected     int                  `json:"rows_rejected"`
	RowsSkipped      int                  `json:"rows_skipped"`
	Sample           []csvfile.Sample     `json:"sample" doc:"Untrusted: text is the file's"`
	Duplicates       *int64               `json:"duplicates" doc:"How many rows the account has already; null without account_id"`
	Warnings         []csvfile.Warning    `json:"warnings"`
}

// content is the file that a caller sent.
func content(sent string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(sent, "data:text/csv;base64,")
	if !ok {
		return []byte(sent), nil
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errs.Field("csv", "format", "must be text, or data:text/csv;base64, followed by base64")
	}
	return raw, nil
}

// either is what a caller knows about a file: in an object, as JSON has it, or flat, as a query does.
func either(object *FileOptions, flat FileOptions) FileOptions {
	if object != nil {
		return *object
	}
	return flat
}

// PreviewFile says how a file would be read, and stores nothing.
func (f *Feed) PreviewFile(ctx context.Context, q pg.Querier, in PreviewFile) (FilePreview, error) {
	raw, err := content(in.CSV)
	if err != nil {
		return FilePreview{}, err
	}
	o, err := either(in.Options, in.FileOptions).options(nil)
	if err != nil {
		return FilePreview{}, err
	}
	file := bytes.NewReader(raw)
	p, err := csvfile.Inspect(file, o)
	if err != nil {
		return FilePreview{}, err
	}
	mapping, err := json.Marshal(p.Mapping)
	if err != nil {
		return FilePreview{}, fmt.Errorf("print mapping: %w", err)
	}
	out := FilePreview{
		Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, Columns: p.Columns, Mapping: mapping, DateFormat: p.DateFormat, DecimalSeparator: p.DecimalSeparator,
		AmountSign: p.AmountSign, Confidence: p.Confidence, KnownFormat: orNull(p.KnownFormat), RowsTotal: p.RowsTotal, RowsRejected: p.RowsRejected, RowsSkipped: p.RowsSkipped,
		Sample: p.Sample, Warnings: p.Warnings,
	}
	if in.AccountID == nil {
		return out, nil
	}
	account, err := pg.Value[id.ID](ctx, q, `select id from account where id = $1 or short_id = $2`, pg.RefTo(*in.AccountID).IDArgs()...)
	if err != nil {
		return FilePreview{}, pg.Named(err, "account_id", "account", "GET /api/v1/accounts lists them")
	}
	var prints csvfile.Fingerprints
	var marks []string
	for row, err := range csvfile.Read(file, p) {
		if _, no := errors.AsType[*csvfile.RowError](err); no {
			continue
		}
		if err != nil {
			return FilePreview{}, err
		}
		marks = append(marks, prints.Of(row))
	}
	n, err := pg.Value[int64](ctx, q, `select count(*) from transaction where account_id = $1 and provider_id = any($2)`, account, marks)
	out.Duplicates = &n
	return out, err
}

// A FileAccount is an account that a file makes.
type FileAccount struct {
	Name     string         `json:"name" minLength:"1" maxLength:"200" format:"line"`
	Type     string         `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"depository if omitted"`
	Currency money.Currency `json:"iso_currency_code" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
}

// ImportFile is the input of ImportFile.
type ImportFile struct {
	ID        string       `json:"id" minLength:"1" doc:"The connection's UUID or short id"`
	CSV       string       `json:"csv" minLength:"1" format:"file" doc:"The file, as in the preview"`
	Options   *FileOptions `json:"options,omitempty" doc:"How it is read, as in the preview; what is left out is as the connection's last file was read, or found out"`
	AccountID *string      `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account that it goes into: UUID or short id; without it the connection's only one"`
	Account   *FileAccount `json:"account,omitempty" doc:"An account to be made for it"`
	FileOptions
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
	raw, err := content(in.CSV)
	if err != nil {
		return job.Job{}, err
	}
	remembered, err := pg.Value[[]byte](ctx, tx, `select csv_options from connection where id = $1`, c.ID)
	if err != nil {
		return job.Job{}, err
	}
	said := either(in.Options, in.FileOptions)
	o, err := said.options(remembered)
	if err != nil {
		return job.Job{}, err
	}
	p, err := csvfile.Inspect(bytes.NewReader(raw), o)
	if err != nil && remembered != nil { // the bank writes its files otherwise now
		if o, err = said.options(nil); err == nil {
			p, err = csvfile.Inspect(bytes.NewReader(raw), o)
		}
	}
	if err != nil {
		return job.Job{}, err
	}
	account, currency, err := f.fileAccount(ctx, tx, c, in)
	if err != nil {
		return job.Job{}, err
	}
	if o.DefaultCurrency == "" {
		o.DefaultCurrency = currency
	}
	settled, err := settle(o, p)
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

// settle is how the file is read, in full. Columns go by their names where the file has them, so that a bank which moves its columns is noticed and not misread.
func settle(o csvfile.Options, p csvfile.Preview) ([]byte, error) {
	o.Encoding, o.Delimiter, o.HeaderRow, o.DateFormat, o.DecimalSeparator, o.AmountSign, o.Mapping = p.Encoding, p.Delimiter, p.HeaderRow, p.DateFormat, p.DecimalSeparator, p.AmountSign, &p.Mapping
	if o.HeaderRow == nil {
		o.HeaderRow = new(0)
	} else {
		named := map[string]int{}
		for _, c := range p.Columns {
			named[c.Name.Plain()]++
		}
		raw, err := json.Marshal(p.Mapping)
		if err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		places := map[string]int{}
		if err := json.Unmarshal(raw, &places); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		words := map[string]any{}
		for field, at := range places {
			words[field] = at
			if at < len(p.Columns) {
				if name := p.Columns[at].Name.Plain(); name != "" && named[name] == 1 {
					words[field] = name
				}
			}
		}
		if raw, err = json.Marshal(words); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		o.Mapping = &csvfile.Mapping{}
		if err := json.Unmarshal(raw, o.Mapping); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
	}
	settled, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("print options: %w", err)
	}
	return settled, nil
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
	a := ledger.NewAccount{ConnectionID: &c.ID, Provider: "csv", ProviderID: id.Base62(12), Name: text.Name("Imported"), Type: "depository", Currency: "EUR"}
	if in.Account != nil {
		a.Name, a.Currency = text.Name(in.Account.Name), in.Account.Currency
		if in.Account.Type != "" {
			a.Type = in.Account.Type
		}
	} else if said := either(in.Options, in.FileOptions).DefaultCurrency; said != nil {
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
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		raw, err := pg.Value[[]byte](ctx, tx, `select content from upload where id = $1`, d.Upload)
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
	return out, err
}

// take puts the file's rows into the books, part by part within one transaction.
func (f *Feed) take(ctx context.Context, tx pg.Tx, run id.ID, d delivery, file *bytes.Reader, o csvfile.Options, out *Imported) (int64, error) {
	p, err := csvfile.Inspect(file, o)
	if err != nil {
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
	m, err := f.books.Merge(ctx, tx, slices.Values(rows))
	if err != nil {
		return nil, err
	}
	away, err := pg.Value[string](ctx, tx, `select clock_timestamp()::text`)
	if err != nil {
		return nil, err
	}
	source := "provider"
	entries := m.Entries
	for _, u := range m.Inserted {
		entries = append(entries, journal.Entry{Subject: journal.Transaction, SubjectID: u, Field: journal.FieldDeleted, Before: &away, BeforeSource: &source})
	}
	ruled, hits, err := f.rules.Pass(ctx, tx, rulebook.Page{Run: at.Log, Created: m.Inserted, Changed: m.Changed})
	at.Added, at.Modified, at.Unchanged, at.RulesHit, at.Pages = at.Added+int64(len(m.Inserted)), at.Modified+int64(len(m.Changed))+m.Touched, at.Unchanged+m.Unchanged, at.RulesHit+hits, at.Pages+1
	return append(entries, ruled...), err
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

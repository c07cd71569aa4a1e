package statement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/csvfile"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/journal"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// ImportKind is the job that imports a file.
const ImportKind = "feed.import"

// Kinds are the jobs of statement.
func (s *Statements) Kinds() []job.Kind {
	return []job.Kind{{
		Name: ImportKind, Unit: "transactions", Work: s.importFile, Retries: 5, Ended: s.feed.Ended,
		Results: []*op.Schema{op.SchemaOf[Imported]()},
	}}
}

// A FileAccount is the account that a file is for: an existing one with this name, or a new one.
type FileAccount struct {
	Name     string         `json:"name" minLength:"1" maxLength:"200" format:"line" doc:"An account of the connection, by name, or the name of a new account"`
	Type     string         `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"For a new account; defaults to depository"`
	Currency money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"For a new account; defaults to the file's currency"`
}

// ImportFile is the input of ImportFile.
type ImportFile struct {
	ID        string       `json:"id" minLength:"1" doc:"The csv connection, or with account_id the connection of a linked bank: UUID or short id"`
	CSV       op.File      `json:"csv" minLength:"1" format:"file" doc:"The file, as in the preview"`
	Options   *FileOptions `json:"options,omitempty" doc:"Reading options, as in the preview; omitted ones come from the connection's last file, or are detected"`
	AccountID *string      `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account to import into: UUID or short id; defaults to the connection's only account"`
	Account   *FileAccount `json:"account,omitempty" doc:"The account to import into, by name; it is created if the connection has none of this name"`
	FileName  *string      `json:"file_name,omitempty" minLength:"1" maxLength:"200" format:"line" in:"query" doc:"The file's name, for the list of imports; a new account is named after it if neither the bank nor an account number is known"`
	FileOptions
}

// A delivery is a file that a job puts into the books.
type delivery struct {
	Connection id.ID             `json:"connection_id"`
	Account    *id.ID            `json:"account_id"` // nil where one is made, unless it is there by then
	New        *newAccount       `json:"new_account,omitempty"`
	Upload     id.ID             `json:"upload_id"`
	Options    json.RawMessage   `json:"options"`
	Warnings   []csvfile.Warning `json:"warnings,omitempty"`
	FileName   *string           `json:"file_name,omitempty"`
	OnlyNew    bool              `json:"only_new,omitempty"` // rows that are stored stay as they are
}

// ImportFile starts a job that imports a file.
func (s *Statements) ImportFile(ctx context.Context, tx pg.Tx, in ImportFile) (job.Job, error) {
	c, err := s.feed.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return job.Job{}, err
	}
	if c.Provider != bank.CSV && in.AccountID == nil || c.Status == "disconnected" {
		return job.Job{}, errs.New(errs.ConnNotSyncable,
			"files can only be imported into a connected csv connection, or into an account of a linked bank by its "+
				"account_id; create a csv connection with {connection.create}")
	}
	raw, err := content(in.CSV)
	if err != nil {
		return job.Job{}, err
	}
	account, err := s.chooseAccount(ctx, tx, c.ID, in.AccountID, in.Account)
	if err != nil {
		return job.Job{}, err
	}
	p, o, warnings, err := s.inspect(ctx, tx, c, in, account, raw)
	if err != nil {
		return job.Job{}, err
	}
	if account != nil && in.AccountID == nil && in.Account == nil {
		if err := account.ofFile(p); err != nil {
			return job.Job{}, err
		}
	}
	settled, err := settledOptions(o, p)
	if err != nil {
		return job.Job{}, err
	}
	upload := id.New()
	if _, err := pg.Exec(ctx, tx, `insert into upload (id, content) values ($1, $2)`, upload, raw); err != nil {
		return job.Job{}, err
	}
	if err := s.feed.RememberOptions(ctx, tx, c.ID, settled); err != nil {
		return job.Job{}, err
	}
	d := delivery{
		Connection: c.ID, Upload: upload, Options: settled, Warnings: warnings,
		OnlyNew: op.ActorOf(ctx).Bound(),
	}
	if in.FileName != nil {
		d.FileName = new(baseName(*in.FileName))
	}
	if account != nil {
		d.Account = &account.ID
	} else {
		d.New = nameAccount(c, in, p)
	}
	return s.jobs.Enqueue(ctx, tx, ImportKind, d, job.Options{})
}

// inspect finds out how the file is read: as the caller says, else as the connection's last one
// was, else as it looks.
func (s *Statements) inspect(ctx context.Context, tx pg.Tx, c feed.Connection, in ImportFile, account *fileAccount,
	raw []byte,
) (csvfile.Preview, csvfile.Options, []csvfile.Warning, error) {
	fail := func(err error) (csvfile.Preview, csvfile.Options, []csvfile.Warning, error) {
		return csvfile.Preview{}, csvfile.Options{}, nil, err
	}
	remembered, err := pg.Value[[]byte](ctx, tx, `select csv_options from connection where id = $1`, c.ID)
	if err != nil {
		return fail(err)
	}
	usual, err := usualCurrency(ctx, tx)
	if err != nil {
		return fail(err)
	}
	said := either(in.Options, in.FileOptions)
	look := func(remembered []byte) (p csvfile.Preview, o csvfile.Options, err error) {
		if o, err = said.Reading(remembered); err != nil {
			return p, o, err
		}
		// that of the account, whatever the file before was for
		if o.UsualCurrency = usual; said.DefaultCurrency == nil {
			o.DefaultCurrency = ""
			if account != nil {
				o.DefaultCurrency = account.Currency
			} else if in.Account != nil {
				o.DefaultCurrency = in.Account.Currency
			}
		}
		p, err = csvfile.Inspect(ctx, bytes.NewReader(raw), o)
		o.DefaultCurrency = p.DefaultCurrency
		return p, o, err
	}
	p, o, err := look(remembered)
	if err != nil && remembered != nil { // the bank writes its files otherwise now
		p, o, err = look(nil)
	}
	if err != nil {
		return fail(err)
	}
	expected := usual
	if account != nil {
		expected = account.Currency
	}
	return p, o, slices.Concat(p.Warnings, currencyAssumed(said, p, expected)), nil
}

// Imported is the result of an import.
type Imported struct {
	Added        int64     `json:"added" doc:"New rows"`
	Modified     int64     `json:"modified" doc:"Stored rows that were changed: different text, date or currency"`
	Duplicates   int64     `json:"duplicates" doc:"Rows that were already stored, unchanged, or of days that the account's linked bank reports itself"`
	Restored     int64     `json:"restored" doc:"Rows that an earlier revert had removed and that were restored"`
	Detailed     int64     `json:"details_filled" doc:"Modified rows that only got a missing memo"`
	RowsRejected int64     `json:"rows_rejected" doc:"Unreadable rows"`
	RowsSkipped  int64     `json:"rows_skipped" doc:"Lines that are not transactions (pending charges, balances, totals, notes); if an agent imports the file, also rows that are stored with other values"`
	Rejected     []LeftOut `json:"rejected" doc:"The first 200 unreadable rows"`
	Skipped      []LeftOut `json:"skipped" doc:"The first 200 lines that were skipped"`
	AccountID    id.ID     `json:"account_id"`
	Reused       bool      `json:"account_reused" doc:"Whether the account existed before; otherwise it was created for the file"`
	ChangeID     *id.ID    `json:"change_id" doc:"Id of the change; pass it to revert to remove the added and restored rows"`
	SyncLogID    id.ID     `json:"sync_log_id"`

	Warnings []csvfile.Warning `json:"warnings" doc:"The warnings that a preview of the file shows"`
}

func (out Imported) changed() bool { return out.Added+out.Modified+out.Restored > 0 }

// A LeftOut is a line of a file that did not become a transaction.
type LeftOut struct {
	Row    int    `json:"row" doc:"Counted from 1, as a spreadsheet does"`
	Reason string `json:"reason"`
}

// leaveOut notes a line that became no transaction.
func (out *Imported) leaveOut(e *csvfile.RowError) {
	n, list := &out.RowsRejected, &out.Rejected
	if e.Skip {
		n, list = &out.RowsSkipped, &out.Skipped
	}
	if *n++; *n <= mostLeftOut {
		*list = append(*list, LeftOut{e.Row, e.Message})
	}
}

const (
	importPart  = 5000
	mostLeftOut = 200
)

// importFile is the job: all rows that can be read go in together, or none does.
func (s *Statements) importFile(ctx context.Context, run *job.Run) (any, error) {
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
		s.feed.Follow(ctx, run, out.changed())
		return out, err
	}
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		raw, err := fetch(ctx, tx, d.Upload)
		if err != nil {
			return job.Step{}, err
		}
		out = Imported{
			Rejected: []LeftOut{}, Skipped: []LeftOut{},
			Warnings: append([]csvfile.Warning{}, d.Warnings...),
		}
		done, err := s.take(ctx, tx, run.ID(), d, bytes.NewReader(raw), o, &out)
		if err != nil {
			return job.Step{}, err
		}
		_, err = pg.Exec(ctx, tx, `delete from upload where id = $1`, d.Upload)
		return job.Step{Done: done, Total: done, Position: out}, err
	})
	if err == nil {
		s.feed.Follow(ctx, run, out.changed())
	}
	return out, err
}

// fetch reads a file in pieces, so it is in memory only once: a single response would also be in
// the connection's buffer.
func fetch(ctx context.Context, q pg.Querier, upload id.ID) ([]byte, error) {
	const piece = 2 << 20
	size, err := pg.Value[int](ctx, q, `select length(content) from upload where id = $1`, upload)
	if err != nil {
		return nil, err
	}
	file := make([]byte, 0, size)
	for len(file) < size {
		next, err := pg.Value[[]byte](ctx, q, `select substring(content from $2 for $3) from upload
			where id = $1`, upload, len(file)+1, piece)
		if err != nil {
			return nil, err
		}
		file = append(file, next...)
	}
	return file, nil
}

// take puts the file's rows into the books, part by part within one transaction.
func (s *Statements) take(ctx context.Context, tx pg.Tx, run id.ID, d delivery, file *bytes.Reader, o csvfile.Options,
	out *Imported,
) (int64, error) {
	p, err := csvfile.Inspect(ctx, file, o)
	if err != nil {
		return 0, err
	}
	at := progress{out: out} // the connection before the account, as those do who start an import
	if at.log, err = s.feed.StartImport(ctx, tx, d.Connection, run); err != nil {
		return 0, err
	}
	account, under, entries, err := s.openAccount(ctx, tx, d, out)
	if err != nil {
		return 0, err
	}
	ids, err := identify(ctx, tx, account, file, p)
	if err != nil {
		return 0, err
	}
	reports, err := reportedOf(ctx, tx, under)
	if err != nil {
		return 0, err
	}
	if reports != nil {
		if under, err = s.accounts.UnderFiles(ctx, tx, account); err != nil {
			return 0, err
		}
	}
	balances := fileBalances{}
	var part bundle
	flush := func() error {
		if d.OnlyNew {
			if err := part.onlyNew(ctx, tx, account, under, out); err != nil {
				return err
			}
		}
		if err := s.books.Rekey(ctx, tx, account, part.was, part.now); err != nil {
			return err
		}
		made, err := s.part(ctx, tx, part.rows, &at)
		entries = append(entries, made...)
		part.clear()
		return err
	}
	for row, err := range csvfile.Read(ctx, file, p) {
		if no, is := errors.AsType[*csvfile.RowError](err); is {
			out.leaveOut(no)
			continue
		}
		if err != nil {
			return 0, err
		}
		key := ids.Next(row)
		if reports.has(row) {
			out.Duplicates++
			continue
		}
		if key.Was != "" {
			part.was, part.now = append(part.was, key.Was), append(part.now, key.Key)
		}
		in, err := fromFile(account, row, o.DefaultCurrency, key.Key)
		if err != nil {
			return 0, err
		}
		if under != account {
			in.Under = &under
		}
		balances.add(in.Date, in.Currency, row)
		part.numbers = append(part.numbers, row.Number)
		if part.rows = append(part.rows, in); len(part.rows) == importPart {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	if err := flush(); err != nil {
		return 0, err
	}
	if err := s.state(ctx, tx, account, balances); err != nil {
		return 0, err
	}
	at.counts.Quarantined = out.RowsRejected
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Import, Summary: out.summary()}, entries)
	if err != nil {
		return 0, err
	}
	out.SyncLogID = at.log
	return at.counts.Added + at.counts.Unchanged + at.counts.Modified,
		s.feed.EndImport(ctx, tx, d.Connection, at.log, at.counts, out.ChangeID, feed.File{
			Account: account, Name: d.FileName,
		})
}

// progress is the progress of an import.
type progress struct {
	log    id.ID
	counts feed.Tally
	out    *Imported
}

// summary returns the summary of the import's change.
func (out *Imported) summary() string {
	s := fmt.Sprintf("Imported %d transactions", out.Added)
	if out.Added == 1 {
		s = "Imported 1 transaction"
	}
	if out.Modified > 0 {
		s += fmt.Sprintf(", changed %d", out.Modified)
	}
	if out.Restored > 0 {
		s += fmt.Sprintf(", restored %d", out.Restored)
	}
	return s
}

// part merges some rows and runs the rules. New rows are recorded as deleted before, so a revert
// deletes them again.
func (s *Statements) part(ctx context.Context, tx pg.Tx, rows []ledger.Incoming, at *progress) ([]journal.Entry,
	error,
) {
	if len(rows) == 0 {
		return nil, nil
	}
	m, hits, err := s.rules.Merge(ctx, tx, at.log, rows)
	if err != nil {
		return nil, err
	}
	if err := journal.Tell(ctx, tx, nil, m.Events); err != nil {
		return nil, err
	}
	away, err := pg.Value[string](ctx, tx, `select clock_timestamp()::text`)
	if err != nil {
		return nil, err
	}
	source := "provider"
	entries := make([]journal.Entry, 0, len(m.Inserted)+len(m.Entries))
	for _, u := range m.Inserted {
		entries = append(entries, journal.Entry{
			Subject: journal.Transaction, SubjectID: u, Field: journal.FieldDeleted,
			Before: &away, BeforeSource: &source,
		})
	}
	out, n := at.out, &at.counts
	out.Added, out.Modified = out.Added+int64(len(m.Inserted)), out.Modified+int64(len(m.Changed))+m.Touched-m.Restored
	out.Duplicates, out.Restored = out.Duplicates+m.Unchanged, out.Restored+m.Restored
	out.Detailed += m.Detailed
	n.Added, n.Modified, n.Unchanged = out.Added, out.Modified+out.Restored, out.Duplicates
	n.RulesHit, n.Pages = n.RulesHit+hits, n.Pages+1
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
		AccountID: account, ProviderID: mark, Date: day, Amount: r.Amount, Currency: currency, Name: r.Name,
		MerchantName: r.MerchantName, Detail: text.Detail(r.Detail.Plain(), r.Name), CategoryPrimary: r.Category,
	}, nil
}

// ForgetUploads deletes files whose job failed or was canceled, one day after their upload.
func (s *Statements) ForgetUploads(ctx context.Context) error {
	_, err := pg.Exec(ctx, s.db, `delete from upload where created_at < now() - interval '1 day'`)
	return err
}

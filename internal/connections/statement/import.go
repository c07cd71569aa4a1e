package statement

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ImportKind is the job that imports a file.
const ImportKind = "feed.import"

// Kinds returns the kinds of jobs of this package.
func (s *Statements) Kinds() []job.Kind {
	return []job.Kind{{
		Name: ImportKind, Unit: "transactions", Work: s.importFile, Retries: 5, Ended: s.connections.Ended,
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
	ID            string          `json:"id" minLength:"1" doc:"The csv connection, or with account_id the connection of a linked bank: UUID or short id" agent:"A csv connection; with account_id, any bank's"`
	File          op.File         `json:"csv" minLength:"1" format:"file" doc:"The file, as in the preview" agent:"-"`
	Options       *FileOptions    `json:"options,omitempty" doc:"Reading options, as in the preview; omitted ones come from the connection's last file, or are detected" agent:"-"`
	AccountID     *string         `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account to import into: UUID or short id; defaults to the connection's only account" agent:"-"`
	Account       *FileAccount    `json:"account,omitempty" doc:"The account to import into, by name; it is created if the connection has none of this name"`
	Accounts      []AccountChoice `json:"accounts,omitempty" in:"query" minItems:"1" maxItems:"200" doc:"What to do with each account of the file, by its key from the preview; required if there are several" parts:"elsewhere" agent:"If the file has several: [{key, account_id | create: {name} | skip}]"`
	IncludeLikely bool            `json:"include_likely_duplicates,omitempty" in:"query" doc:"Also import rows that another source seems to have brought; for a file of one account"`
	FileName      *string         `json:"file_name,omitempty" minLength:"1" maxLength:"200" format:"line" in:"query" doc:"The file's name, for the list of imports; a new account is named after it if neither the bank nor an account number is known" agent:"-"`
	FileOptions
}

// A delivery holds the arguments of an import job.
type delivery struct {
	Connection id.ID               `json:"connection_id"`
	Targets    []target            `json:"targets"`
	Upload     id.ID               `json:"upload_id"`
	Options    reading             `json:"options"`
	Warnings   []statement.Warning `json:"warnings,omitempty"`
	FileName   *string             `json:"file_name,omitempty"`
	OnlyNew    bool                `json:"only_new,omitempty"` // stored rows must not change
}

// ImportFile starts a job that imports a file.
func (s *Statements) ImportFile(ctx context.Context, tx pg.Tx, in ImportFile) (job.Job, error) {
	c, err := s.connections.LockConnection(ctx, tx, in.ID)
	if err != nil {
		return job.Job{}, err
	}
	if c.Provider != bank.CSV && in.AccountID == nil || c.Status == "disconnected" {
		return job.Job{}, errs.New(errs.ConnNotSyncable,
			"files can only be imported into a connected csv connection, or into an account of a linked bank by its "+
				"account_id; create a csv connection with {connection.create}")
	}
	raw, err := content(in.File)
	if err != nil {
		return job.Job{}, err
	}
	var account *fileAccount
	if in.Accounts == nil {
		if account, err = s.chooseAccount(ctx, tx, c.ID, in.AccountID, in.Account); err != nil {
			return job.Job{}, err
		}
	} else if in.AccountID != nil || in.Account != nil {
		return job.Job{}, errs.Field("accounts", "conflict", "must be omitted if account_id or account is given")
	}
	d, last, warnings, err := s.inspect(ctx, tx, c, in, account, raw)
	if err != nil {
		return job.Job{}, err
	}
	targets, err := s.targets(ctx, tx, c, in, d, account)
	if err != nil {
		return job.Job{}, err
	}
	p := d.files[0].File
	settled := reading{
		Format: p.Format.Name, Currency: p.DefaultCurrency, Heads: heads(p), Into: last.Into, Own: p.Settled,
	}
	upload := id.New()
	if _, err := pg.Exec(ctx, tx, `insert into upload (id, content) values ($1, $2)`, upload, raw); err != nil {
		return job.Job{}, err
	}
	remembered, err := json.Marshal(settled)
	if err != nil {
		return job.Job{}, fmt.Errorf("print options: %w", err)
	}
	if err := s.connections.RememberOptions(ctx, tx, c.ID, remembered); err != nil {
		return job.Job{}, err
	}
	request := delivery{
		Connection: c.ID, Targets: targets, Upload: upload, Options: settled, Warnings: warnings,
		OnlyNew: op.ActorOf(ctx).Bound(),
	}
	if in.FileName != nil {
		request.FileName = new(baseName(*in.FileName))
	}
	return s.jobs.Enqueue(ctx, tx, ImportKind, request, job.Options{})
}

// inspect finds out how to read the file: from the caller's options, else from how the connection's
// last file was read, else from the content. It also returns how the last file was read.
func (s *Statements) inspect(ctx context.Context, tx pg.Tx, c connection.Connection, in ImportFile,
	account *fileAccount, raw []byte,
) (d delivered, last reading, warnings []statement.Warning, err error) {
	stored, err := pg.Value[[]byte](ctx, tx, `select statement_options from connection where id = $1`, c.ID)
	if err == nil && stored != nil {
		err = json.Unmarshal(stored, &last)
	}
	if err != nil {
		return d, last, nil, err
	}
	usual, err := usualCurrency(ctx, tx)
	if err != nil {
		return d, last, nil, err
	}
	expected, options := usual, either(in.Options, in.FileOptions)
	if account != nil {
		expected = account.Currency
	}
	d, err = s.receive(raw, func(f statement.Format, file io.ReaderAt) (statement.File, error) {
		look := func(remembered statement.Own) (statement.File, error) {
			o, err := options.over(remembered)
			if err != nil {
				return statement.File{}, err
			}
			// This is the currency of the account, whatever account the last file was for.
			if o.UsualCurrency = usual; options.DefaultCurrency == nil {
				o.DefaultCurrency = ""
				if account != nil {
					o.DefaultCurrency = account.Currency
				} else if in.Account != nil {
					o.DefaultCurrency = in.Account.Currency
				}
			}
			return f.Open(ctx, file, o)
		}
		remembered := s.ownOf(last, f)
		p, err := look(remembered)
		if err != nil && remembered != nil { // the bank may have changed its file format
			p, err = look(nil)
		}
		if err == nil && remembered != nil && options.Mapping == nil && last.lacks(p) {
			fresh, err := look(nil)
			if err != nil {
				return p, err
			}
			if now := last.withCurrency(p, fresh); now != nil {
				return look(now)
			}
		}
		return p, err
	})
	if err != nil {
		return d, last, nil, err
	}
	warnings = d.warnings()
	for _, f := range d.files {
		warnings = append(warnings, currencyAssumed(options, f.File, expected)...)
	}
	return d, last, warnings, nil
}

// Counts holds what an import did with the rows of a file.
type Counts struct {
	Added        int64     `json:"added" doc:"New rows"`
	Modified     int64     `json:"modified" doc:"Stored rows that were changed: different text, date or currency"`
	Duplicates   int64     `json:"duplicates" doc:"Rows that were already stored, unchanged"`
	Likely       int64     `json:"likely_duplicates" doc:"Rows that were left out because another source seems to have brought them, or because the account's linked bank may still report them"`
	Restored     int64     `json:"restored" doc:"Rows that an earlier revert had removed and that were restored"`
	Removed      int64     `json:"removed" doc:"Stored rows that the file deletes, because the bank withdrew them"`
	Detailed     int64     `json:"details_filled" doc:"Modified rows that only got a missing memo"`
	RowsRejected int64     `json:"rows_rejected" doc:"Unreadable rows"`
	RowsSkipped  int64     `json:"rows_skipped" doc:"Lines that are not transactions (pending charges, balances, totals, notes); if an agent imports the file, also rows that are stored with other values"`
	Rejected     []LeftOut `json:"rejected" doc:"The first 200 unreadable rows"`
	Skipped      []LeftOut `json:"skipped" doc:"The first 200 lines that were skipped"`
}

// Imported is the result of an import.
type Imported struct {
	Counts
	AccountID id.ID             `json:"account_id" doc:"The first of the accounts"`
	Reused    bool              `json:"account_reused" doc:"Whether the account existed before; otherwise it was created for the file"`
	Accounts  []ImportedAccount `json:"accounts" doc:"What went into each account"`
	ChangeID  *id.ID            `json:"change_id" doc:"Id of the change; pass it to revert to remove the added and restored rows"`
	SyncLogID id.ID             `json:"sync_log_id"`

	Warnings []statement.Warning `json:"warnings" doc:"The warnings that a preview of the file shows, and what an import could not do"`
}

// An ImportedAccount holds what an import did with one account of a file.
type ImportedAccount struct {
	Key text.Untrusted `json:"key" doc:"Untrusted: the account in the file, as the preview names it"`
	Counts
	AccountID id.ID                  `json:"account_id"`
	Reused    bool                   `json:"account_reused" doc:"Whether the account existed before; otherwise it was created for the file"`
	Opening   *FilePoint             `json:"opening,omitempty" doc:"The balance before the rows, if the file states it"`
	Closing   *FilePoint             `json:"closing,omitempty" doc:"The balance after them"`
	Proof     account.StatementProof `json:"proof" doc:"Whether the account's transactions now explain the file's balances"`
}

func (out Imported) changed() bool { return out.Added+out.Modified+out.Restored+out.Removed > 0 }

// A LeftOut is a line of a file that did not become a transaction.
type LeftOut struct {
	Row    int    `json:"row" doc:"Counted from 1, as a spreadsheet does"`
	Reason string `json:"reason"`
}

// leaveOut records a line that did not become a transaction.
func (c *Counts) leaveOut(e *statement.RowError) {
	n, list := &c.RowsRejected, &c.Rejected
	if e.Skip {
		n, list = &c.RowsSkipped, &c.Skipped
	}
	if *n++; *n <= mostLeftOut {
		*list = append(*list, LeftOut{e.Row, e.Message})
	}
}

// add adds other counts to c.
func (c *Counts) add(o Counts) {
	c.Added, c.Modified, c.Duplicates = c.Added+o.Added, c.Modified+o.Modified, c.Duplicates+o.Duplicates
	c.Likely, c.Restored, c.Detailed = c.Likely+o.Likely, c.Restored+o.Restored, c.Detailed+o.Detailed
	c.Removed += o.Removed
	c.RowsRejected, c.RowsSkipped = c.RowsRejected+o.RowsRejected, c.RowsSkipped+o.RowsSkipped
	c.Rejected = upTo(append(c.Rejected, o.Rejected...))
	c.Skipped = upTo(append(c.Skipped, o.Skipped...))
}

func upTo(list []LeftOut) []LeftOut { return list[:min(len(list), mostLeftOut)] }

func noCounts() Counts { return Counts{Rejected: []LeftOut{}, Skipped: []LeftOut{}} }

const (
	importPart  = 5000
	mostLeftOut = 200
)

// importFile is the import job. It stores all readable rows in one transaction.
func (s *Statements) importFile(ctx context.Context, run *job.Run) (any, error) {
	var d delivery
	if err := run.Args(&d); err != nil {
		return nil, err
	}
	var out Imported
	if stored, err := run.Position(&out); stored || err != nil { // a run that stopped after its batch
		s.connections.Follow(ctx, run, out.changed())
		return out, err
	}
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		raw, err := fetch(ctx, tx, d.Upload)
		if err != nil {
			return job.Step{}, err
		}
		out = Imported{
			Counts: noCounts(), Accounts: []ImportedAccount{}, Warnings: append([]statement.Warning{}, d.Warnings...),
		}
		done, err := s.take(ctx, tx, run.ID(), d, raw, &out)
		if err != nil {
			return job.Step{}, err
		}
		_, err = pg.Exec(ctx, tx, `delete from upload where id = $1`, d.Upload)
		return job.Step{Done: done, Total: done, Position: out}, err
	})
	if err == nil {
		s.connections.Follow(ctx, run, out.changed())
	}
	return out, err
}

// fetch reads a file in pieces, so it is in memory only once. A single response would also fill the
// database connection's buffer.
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

// take stores the file's rows, account by account, within one transaction.
func (s *Statements) take(ctx context.Context, tx pg.Tx, run id.ID, d delivery, raw []byte, out *Imported) (int64,
	error,
) {
	sent, err := s.receive(raw, func(f statement.Format, file io.ReaderAt) (statement.File, error) {
		return f.Open(ctx, file, statement.Options{DefaultCurrency: d.Options.Currency, Own: s.ownOf(d.Options, f)})
	})
	if err != nil {
		return 0, err
	}
	at := progress{} // lock the connection before the accounts, as the start of an import does
	if at.log, err = s.connections.StartImport(ctx, tx, d.Connection, run); err != nil {
		return 0, err
	}
	at.names = map[string]bool{}
	for _, p := range sent.portions() {
		at.names[p.Name.Plain()] = true
	}
	var entries []journal.Entry
	into := d.Options.Into
	for _, t := range d.Targets {
		p, err := sent.portion(t)
		if err != nil {
			return 0, err
		}
		made, err := s.takeAccount(ctx, tx, d, t, p, &at)
		if err != nil {
			return 0, err
		}
		entries = append(entries, made...)
		out.add(at.out.Counts)
		out.Accounts, out.Warnings = append(out.Accounts, at.out), append(out.Warnings, at.warnings...)
		into = remember(into, p, at.out.AccountID)
	}
	out.AccountID, out.Reused = out.Accounts[0].AccountID, out.Accounts[0].Reused
	if err := s.rememberInto(ctx, tx, d.Connection, into); err != nil {
		return 0, err
	}
	at.counts.Quarantined = out.RowsRejected
	file := connection.File{Name: d.FileName}
	with := map[string]id.ID{journal.WithConnection: d.Connection}
	if len(out.Accounts) == 1 {
		file.Account, with[journal.WithAccount] = &out.AccountID, out.AccountID
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{
		Cause: journal.Import, Summary: out.summary(), Did: journal.Facts{With: with},
	}, entries)
	if err != nil {
		return 0, err
	}
	out.SyncLogID = at.log
	return at.counts.Added + at.counts.Unchanged + at.counts.Modified,
		s.connections.EndImport(ctx, tx, d.Connection, at.log, at.counts, out.ChangeID, file)
}

// portion returns what was sent for a target.
func (d delivered) portion(t target) (portion, error) {
	if t.Whole {
		return d.whole(), nil
	}
	all := d.portions()
	i := slices.IndexFunc(all, func(p portion) bool { return p.key == t.Key })
	if i < 0 && t.Key != "" {
		return portion{}, fmt.Errorf("the file no longer has an account with this key; preview it again")
	}
	return all[max(i, 0)], nil
}

// progress holds the state of a running import.
type progress struct {
	log    id.ID
	counts connection.Tally // of all accounts
	out    ImportedAccount  // of the account that is imported now

	warnings []statement.Warning // about that account
	inserted []id.ID             // the rows that the last call of part added
	names    map[string]bool     // the names of all accounts of the file
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
	if out.Removed > 0 {
		s += fmt.Sprintf(", removed %d", out.Removed)
	}
	return s
}

// part merges some rows and runs the rules. The journal records that each new row was deleted
// before, so a revert deletes it again.
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
	at.inserted = m.Inserted
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
	at.out.add(Counts{
		Added: int64(len(m.Inserted)), Modified: int64(len(m.Changed)) + m.Touched - m.Restored,
		Duplicates: m.Unchanged, Restored: m.Restored, Detailed: m.Detailed,
	})
	n := &at.counts
	n.RulesHit, n.Pages = n.RulesHit+hits, n.Pages+1
	return append(entries, m.Entries...), nil
}

// fromFile converts a row of a file to the ledger's input.
func fromFile(account id.ID, r statement.Row, currency money.Currency, mark string) (ledger.Incoming, error) {
	day, err := pg.ParseDate(r.Date)
	if err != nil {
		return ledger.Incoming{}, fmt.Errorf("row %d: %w", r.Number, err)
	}
	if r.Currency != "" {
		currency = r.Currency
	}
	var authorized *pg.Date
	if r.Extra != nil && r.Extra.Authorized != "" {
		at, err := pg.ParseDate(r.Extra.Authorized)
		if err != nil {
			return ledger.Incoming{}, fmt.Errorf("row %d: %w", r.Number, err)
		}
		authorized = &at
	}
	return ledger.Incoming{
		AccountID: account, AuthorizedDate: authorized, ProviderID: mark, Date: day, Amount: r.Amount,
		Currency: currency, Name: r.Name, MerchantName: r.MerchantName,
		Detail: text.Detail(r.Detail.Plain(), r.Name), CategoryPrimary: r.Category,
	}, nil
}

// ForgetUploads deletes files whose job failed or was canceled, one day after their upload.
func (s *Statements) ForgetUploads(ctx context.Context) error {
	_, err := pg.Exec(ctx, s.db, `delete from upload where created_at < now() - interval '1 day'`)
	return err
}

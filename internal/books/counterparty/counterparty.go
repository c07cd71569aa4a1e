// Package counterparty keeps the shops and people on the other side of transactions: one record for
// each, regardless of its names at different banks. It must not guess from names which transactions
// belong together; people, agents and rules decide, and the ledger links them.
package counterparty

import (
	"context"
	"errors"
	"net/url"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Counterparties are the counterparties of one household.
type Counterparties struct {
	categories *category.Categories
	books      *ledger.Books
}

// New returns Counterparties that use the categories of f and the transactions of books.
func New(f *category.Categories, books *ledger.Books) *Counterparties {
	return &Counterparties{categories: f, books: books}
}

// Subjects returns the subjects that reverts restore.
func (c *Counterparties) Subjects() []journal.Subject { return []journal.Subject{definition} }

var definition = journal.Definition{
	Subject: journal.Counterparty, Table: "counterparty", Unique: "name", Gone: "canonical_id", Fits: fits,
	Columns: []string{"name", "website_url", "logo_url", "category_id", "mcc", "canonical_id"},
}

// A Counterparty is the other side of transactions across banks, whether a merchant or not.
type Counterparty struct {
	ID          id.ID          `json:"id" db:"id"`
	ShortID     string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name        text.Untrusted `json:"name" db:"name" doc:"Untrusted: it may come from the bank's text"`
	WebsiteURL  *string        `json:"website_url" db:"website_url"`
	LogoURL     *string        `json:"logo_url" db:"logo_url"`
	CategoryID  *id.ID         `json:"category_id" db:"category_id" doc:"The category that usually fits; it changes no transaction"`
	MCC         *string        `json:"mcc" db:"mcc" doc:"Merchant category code: four digits" example:"5411"`
	CanonicalID *id.ID         `json:"canonical_counterparty_id" db:"canonical_id" doc:"The counterparty it was merged into; null if it was not merged"`
	CreatedAt   pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt   pg.Time        `json:"updated_at" db:"updated_at"`
}

const columns = `id, short_id, name, website_url, logo_url, category_id, mcc, canonical_id, created_at, updated_at`

// A Directory lists all counterparties.
type Directory struct {
	Counterparties []Counterparty `json:"counterparties"`
}

// List asks for counterparties.
type List struct {
	Search *string `json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Text in the name, ignoring case" agent:"In the name"`
}

// Each calls each for every counterparty that was not merged into another, ordered by name.
func (c *Counterparties) Each(ctx context.Context, q pg.Querier, in List,
	each func(Counterparty) error,
) error {
	const some = 500
	var name *string
	var last *id.ID
	for {
		rows, err := pg.All[Counterparty](ctx, q, `
			select `+columns+` from counterparty
			where deleted_at is null and canonical_id is null
				and ($1::text is null or (lower(name), id) > (lower($1), $2::uuid))
				and ($4::text is null or position(lower($4) in lower(name)) > 0)
			order by lower(name), id limit $3`, name, last, some, in.Search)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
		if len(rows) < some {
			return nil
		}
		name, last = new(rows[some-1].Name.Plain()), &rows[some-1].ID
	}
}

// A Ref names a counterparty.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The counterparty's UUID or short id"`
}

// Get returns one counterparty, merged or not.
func (c *Counterparties) Get(ctx context.Context, q pg.Querier, in Ref) (Counterparty, error) {
	p, err := find(ctx, q, in.ID)
	return p, missing(err)
}

func find(ctx context.Context, q pg.Querier, ref string) (Counterparty, error) {
	return pg.One[Counterparty](ctx, q, `select `+columns+` from counterparty where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(ref).IDArgs()...)
}

// lock is Get, but it also locks the counterparty: nobody can change it or link anything to it
// until the transaction ends.
func lock(ctx context.Context, tx pg.Tx, ref string) (Counterparty, error) {
	p, err := pg.One[Counterparty](ctx, tx, `select `+columns+` from counterparty where deleted_at is null
		and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	return p, missing(err)
}

func missing(err error) error {
	return pg.Found(err, "counterparty", lists)
}

const lists = "{counterparty.list} lists them"

// CreateCounterparty is the input of Create.
type CreateCounterparty struct {
	Name       string  `json:"name" minLength:"1" maxLength:"200" format:"line" example:"Corner Bakery"`
	WebsiteURL *string `json:"website_url,omitempty" maxLength:"2000" pattern:"^(https?://[^/\\s]\\S*)?$" hint:"be an http or https URL, or empty" example:"https://bakery.example"`
	LogoURL    *string `json:"logo_url,omitempty" maxLength:"2000" pattern:"^(https?://[^/\\s]\\S*)?$" hint:"be an http or https URL, or empty"`
	CategoryID *string `json:"category_id,omitempty" minLength:"1" doc:"Slug, short id or UUID"`
	MCC        *string `json:"mcc,omitempty" pattern:"^([0-9]{4})?$" hint:"be four digits, or empty" doc:"Merchant category code" example:"5462"`
}

// Create creates a counterparty.
func (c *Counterparties) Create(ctx context.Context, tx pg.Tx, in CreateCounterparty) (Counterparty, error) {
	if err := checkURLs(in.WebsiteURL, in.LogoURL); err != nil {
		return Counterparty{}, err
	}
	category, err := c.category(ctx, tx, in.CategoryID)
	if err != nil {
		return Counterparty{}, err
	}
	p, err := insert(ctx, tx, pg.Args{
		"name": in.Name, "website": in.WebsiteURL, "logo": in.LogoURL,
		"category": category, "mcc": in.MCC,
	})
	if errors.Is(err, pg.ErrNoRow) {
		return Counterparty{}, errNameTaken()
	}
	if err != nil {
		return Counterparty{}, err
	}
	made, err := madeEntry(ctx, tx, p.ID)
	if err != nil {
		return Counterparty{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{made})
	return p, err
}

// insert inserts a row, or returns pg.ErrNoRow if a live counterparty already has the name.
func insert(ctx context.Context, tx pg.Tx, values pg.Args) (Counterparty, error) {
	var p Counterparty
	err := pg.Redraw(ctx, tx, "counterparty_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		values["id"], values["short"] = newID, newID.Short()
		p, err = pg.One[Counterparty](ctx, tx, `
			insert into counterparty (id, short_id, name, website_url, logo_url, category_id, mcc)
			values (@id, @short, @name, @website, @logo, @category, @mcc)
			on conflict (lower(name)) where deleted_at is null do nothing
			returning `+columns, values)
		return err
	})
	return p, err
}

// madeEntry returns the entry of a counterparty that was just created.
func madeEntry(ctx context.Context, tx pg.Tx, made id.ID) (journal.Entry, error) {
	now, err := definition.Read(ctx, tx, []id.ID{made})
	return journal.Entry{
		Subject: journal.Counterparty, SubjectID: made, Field: journal.FieldRecord, After: now[made],
		AfterSource: new(journal.Source(op.ActorOf(ctx))),
	}, err
}

// PatchCounterparty is the input of Patch.
type PatchCounterparty struct {
	ID         string          `json:"id" minLength:"1" doc:"The counterparty's UUID or short id"`
	Name       *string         `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	WebsiteURL op.Null[string] `json:"website_url,omitzero" maxLength:"2000" pattern:"^(https?://[^/\\s]\\S*)?$" hint:"be an http or https URL, or empty"`
	LogoURL    op.Null[string] `json:"logo_url,omitzero" maxLength:"2000" pattern:"^(https?://[^/\\s]\\S*)?$" hint:"be an http or https URL, or empty"`
	CategoryID op.Null[string] `json:"category_id,omitzero" minLength:"1" doc:"Slug, short id or UUID"`
	MCC        op.Null[string] `json:"mcc,omitzero" pattern:"^([0-9]{4})?$" hint:"be four digits, or empty" doc:"Merchant category code" agent:"-"`
}

// Patch changes a counterparty.
func (c *Counterparties) Patch(ctx context.Context, tx pg.Tx, in PatchCounterparty) (Counterparty, error) {
	p, err := lock(ctx, tx, in.ID)
	if err != nil {
		return Counterparty{}, err
	}
	if err := op.Match(ctx, p); err != nil {
		return Counterparty{}, err
	}
	if err := checkURLs(in.WebsiteURL.Value, in.LogoURL.Value); err != nil {
		return Counterparty{}, err
	}
	category, err := c.category(ctx, tx, in.CategoryID.Value)
	if err != nil {
		return Counterparty{}, err
	}
	var after Counterparty
	err = definition.Recorded(ctx, tx, []id.ID{p.ID}, journal.Note{},
		func() (_ []journal.Entry, err error) {
			after, err = pg.One[Counterparty](ctx, tx, `
			update counterparty set
				name = coalesce(@name, name),
				website_url = case when @website_given then @website else website_url end,
				logo_url = case when @logo_given then @logo else logo_url end,
				category_id = case when @category_given then @category::uuid else category_id end,
				mcc = case when @mcc_given then @mcc else mcc end,
				updated_at = clock_timestamp()
			where id = @id returning `+columns, pg.Args{
				"id": p.ID, "name": in.Name, "website_given": in.WebsiteURL.Set, "website": in.WebsiteURL.Value,
				"logo_given": in.LogoURL.Set, "logo": in.LogoURL.Value,
				"category_given": in.CategoryID.Set, "category": category, "mcc_given": in.MCC.Set, "mcc": in.MCC.Value,
			})
			return nil, err
		})
	if pg.Violates(err, "counterparty_name") {
		return Counterparty{}, errNameTaken()
	}
	return after, err
}

func errNameTaken() error {
	return errs.New(errs.Conflict,
		"a counterparty with this name already exists (it may have been merged); use it, or choose another "+
			"name")
}

// category returns the id of the category that a caller named, or nil for none.
func (c *Counterparties) category(ctx context.Context, tx pg.Tx, ref *string) (*id.ID, error) {
	if ref == nil {
		return nil, nil //nolint:nilnil // the comment says so
	}
	found, err := c.categories.Keep(ctx, tx, "category_id", *ref)
	return &found.ID, err
}

// checkURLs rejects values that are not links to a website, because people will click on them.
func checkURLs(website, logo *string) error {
	for _, f := range []struct {
		name  string
		value *string
	}{{"website_url", website}, {"logo_url", logo}} {
		if f.value == nil || *f.value == "" {
			continue
		}
		u, err := url.Parse(*f.value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			!op.IsLine(*f.value) {
			return errs.Field(f.name, "pattern", "must be an http or https URL with a host and no user name")
		}
	}
	return nil
}

// Delete leaves a tombstone, which a revert removes. It fails if any transaction is linked to the
// counterparty. Counterparties that were merged into it are deleted with it, because they stand for
// no other counterparty.
func (c *Counterparties) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	p, err := lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	// Two queries, because each has a partial index.
	bound, err := pg.Value[int64](ctx, tx, `
		select (select count(*) from transaction where counterparty_id = $1 and deleted_at is null)
			+ (select count(*) from transaction where counterparty_id = $1 and deleted_at is not null)`, p.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if bound > 0 {
		return op.Deleted{}, errs.New(errs.InUse,
			"this counterparty has %d transactions (including deleted ones); unlink them, or merge it into "+
				"another counterparty", bound)
	}
	ids, err := lockWithMerged(ctx, tx, p.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	err = definition.Recorded(ctx, tx, ids, journal.Note{Did: journal.Facts{
		Kind: journal.Counterparty, Subject: &p.ID,
	}}, func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `update counterparty set deleted_at = clock_timestamp(),
			updated_at = clock_timestamp() where id = any($1)`, ids)
		return nil, err
	})
	return op.Deleted{Deleted: true, ID: p.ID}, err
}

// lockWithMerged locks and returns a counterparty and those that were merged into it.
func lockWithMerged(ctx context.Context, tx pg.Tx, head id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, tx, `select id from counterparty
		where deleted_at is null and (id = $1 or canonical_id = $1) order by id for update`, head)
}

package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A corrected row is what a bank says of a transaction, before or after it corrected it: a value of
// journal.FieldCorrection.
type corrected struct {
	Transaction id.ID          `db:"id" json:"-"`
	Account     id.ID          `db:"account_id" json:"-"`
	Identity    string         `db:"provider_id" json:"identity"`
	Former      string         `db:"-" json:"former,omitempty"` // the identity under which an earlier file lists it
	Date        pg.Date        `db:"date" json:"date"`
	Authorized  *pg.Date       `db:"authorized_date" json:"authorized,omitempty"`
	Amount      money.Amount   `db:"amount" json:"amount"`
	Currency    money.Currency `db:"currency" json:"currency"`
	Name        string         `db:"name" json:"name"`
	Merchant    string         `db:"merchant_name" json:"merchant,omitempty"`
	Detail      string         `db:"detail" json:"detail,omitempty"`
	Primary     string         `db:"category_primary" json:"category,omitempty"`
	// Where a bank's feed took the place of a file's row, which is under the account of the files
	// before and under none afterwards. Corrections by files leave that as it is.
	Under *id.ID `db:"-" json:"under,omitempty"`
	Fed   bool   `db:"-" json:"fed,omitempty"`
}

func (c corrected) text() (*string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("print a corrected row: %w", err)
	}
	return new(string(raw)), nil
}

// Correct prepares rows with which a bank replaces stored ones: rows[i] replaces the one under
// was[i]. The stored transaction takes the row's place when the rows are merged, and an earlier
// file that still lists it under its former identity adds nothing. It returns entries by which a
// revert gives the transaction its former values back.
func (b *Books) Correct(ctx context.Context, tx pg.Tx, account id.ID, was []string, rows []Incoming) ([]journal.Entry,
	error,
) {
	return replace(ctx, tx, account, was, rows, false)
}

// TakeOver prepares rows of a bank's feed that are the same payments as rows of files, which came
// first: rows[i] takes the place of the live one under was[i], as if the bank had corrected it, so
// that everything that people decided about it stays. It is the bank's row from then on: a revert
// of the import leaves it, and the file adds nothing when it is imported again.
func (b *Books) TakeOver(ctx context.Context, tx pg.Tx, account id.ID, was []string, rows []Incoming) ([]journal.Entry,
	error,
) {
	return replace(ctx, tx, account, was, rows, true)
}

func replace(ctx context.Context, tx pg.Tx, account id.ID, was []string, rows []Incoming, fed bool) ([]journal.Entry,
	error,
) {
	if len(rows) == 0 {
		return nil, nil
	}
	type row struct {
		corrected
		From *id.ID `db:"moved_from"`
	}
	stored, err := pg.All[row](ctx, tx, `
		select t.id, t.account_id, t.provider_id, t.date, t.authorized_date, t.amount, t.currency, d.name, d.merchant_name,
			d.detail, coalesce(t.category_primary, '') as category_primary, t.moved_from
		from transaction t join descriptor d on d.id = t.descriptor_id
		where t.account_id = $1 and t.provider_id = any($2) and (t.deleted_at is null or not $3)
		order by t.id for update of t`, account, was, fed)
	if err != nil {
		return nil, err
	}
	at := make(map[string]corrected, len(stored))
	for _, s := range stored {
		if fed {
			s.Under = s.From
		}
		at[s.Identity] = s.corrected
	}
	var entries []journal.Entry
	var ids []id.ID
	var former []string
	for i := range rows {
		s, ok := at[was[i]]
		if !ok {
			continue
		}
		r := &rows[i]
		before, err := s.text()
		if err != nil {
			return nil, err
		}
		after, err := corrected{
			Identity: r.ProviderID, Former: s.Identity, Date: r.Date, Authorized: r.AuthorizedDate, Amount: r.Amount,
			Currency: r.Currency, Name: r.Name.Plain(), Merchant: r.MerchantName.Plain(), Detail: r.Detail.Plain(),
			Primary: r.CategoryPrimary.Plain(), Fed: fed,
		}.text()
		if err != nil {
			return nil, err
		}
		r.PendingID, r.Reissued = s.Identity, true
		ids, former = append(ids, s.Transaction), append(former, s.Identity)
		entries = append(entries, journal.Entry{
			Subject: journal.Transaction, SubjectID: s.Transaction, Field: journal.FieldCorrection, Before: before,
			After: after, BeforeSource: &provider, AfterSource: &provider,
		})
	}
	if fed {
		if _, err := pg.Exec(ctx, tx, `update transaction set moved_from = null where id = any($1)`, ids); err != nil {
			return nil, err
		}
	}
	return entries, formerly(ctx, tx, account, ids, former)
}

// formerly notes identities under which earlier files list transactions.
func formerly(ctx context.Context, tx pg.Tx, account id.ID, ids []id.ID, identities []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `
		insert into transaction_alias (account_id, provider_id, transaction_id)
		select $1, v.identity, v.id from unnest($2::uuid[], $3::text[]) v (id, identity)
		on conflict (account_id, provider_id) do update set transaction_id = excluded.transaction_id`,
		account, ids, identities)
	return err
}

// corrections reverts what a bank corrected, and does it again.
type corrections struct{ books *Books }

// Kind implements journal.Subject.
func (corrections) Kind() string { return journal.Transaction }

// Fields implements journal.FieldOwner.
func (corrections) Fields() []string { return []string{journal.FieldCorrection} }

// Lock does nothing: subject locks the transactions.
func (corrections) Lock(context.Context, pg.Tx, []id.ID) error { return nil }

// Apply implements journal.Subject. A value goes back only where no other transaction has its
// identity by now.
func (c corrections) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var left []journal.Skipped
	for _, e := range entries {
		if e.After == nil {
			return nil, fmt.Errorf("a recorded correction of transaction %s is empty", e.SubjectID)
		}
		var to corrected
		if err := json.Unmarshal([]byte(*e.After), &to); err != nil {
			return nil, fmt.Errorf("read a recorded correction: %w", err)
		}
		switch done, err := c.books.correctTo(ctx, tx, e.SubjectID, to); {
		case err != nil:
			return nil, err
		case !done:
			left = append(left, journal.Skip(e, "conflict"))
		}
	}
	return left, nil
}

// correctTo gives a transaction recorded values.
func (b *Books) correctTo(ctx context.Context, tx pg.Tx, transaction id.ID, to corrected) (done bool, err error) {
	type row struct {
		Account  id.ID  `db:"account_id"`
		Identity string `db:"provider_id"`
		Taken    bool   `db:"taken"`
		Gone     bool   `db:"gone"`
	}
	now, err := pg.All[row](ctx, tx, `
		select t.account_id, t.provider_id, exists (select from transaction x where x.account_id = t.account_id
			and x.provider_id = $2 and x.id <> t.id) as taken, t.deleted_at is not null as gone
		from transaction t where t.id = $1`, transaction, to.Identity)
	if err != nil || len(now) == 0 || now[0].Taken {
		return false, err
	}
	if _, err := pg.Exec(ctx, tx, `delete from transaction_alias where transaction_id = $1 and account_id = $2
		and provider_id = $3`, transaction, now[0].Account, to.Identity); err != nil {
		return false, err
	}
	if to.Former != "" {
		if err := formerly(ctx, tx, now[0].Account, []id.ID{transaction}, []string{to.Former}); err != nil {
			return false, err
		}
	}
	if to.Fed || to.Under != nil {
		if _, err := pg.Exec(ctx, tx, `update transaction set moved_from = $2 where id = $1`, transaction,
			to.Under); err != nil {
			return false, err
		}
	}
	if now[0].Gone { // merging would restore it; the file that restores it brings its values
		_, err := pg.Exec(ctx, tx, `update transaction set provider_id = $2, updated_at = clock_timestamp() where id = $1`,
			transaction, to.Identity)
		return true, err
	}
	m, err := b.MergeJudged(ctx, tx, []Incoming{{
		AccountID: now[0].Account, ProviderID: to.Identity, PendingID: now[0].Identity, Reissued: true, Date: to.Date,
		AuthorizedDate: to.Authorized, Amount: to.Amount, Currency: to.Currency, Name: text.Name(to.Name),
		MerchantName: text.Name(to.Merchant), Detail: text.Detail(to.Detail, text.Name(to.Name)),
		CategoryPrimary: text.Name(to.Primary),
	}}, nil)
	if err != nil {
		return false, err
	}
	return true, journal.Tell(ctx, tx, nil, m.Events)
}

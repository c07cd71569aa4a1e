package connection

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// A Quarantined is an unreadable row from a bank. Its content is not shown. It is kept sealed so
// that coffer can try to read it again.
type Quarantined struct {
	ID           id.ID   `json:"id" db:"id"`
	ShortID      string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	ConnectionID id.ID   `json:"connection_id" db:"connection_id"`
	AccountID    *id.ID  `json:"account_id" db:"account_id" doc:"null if the row names no known account"`
	ProviderID   *string `json:"provider_reference" db:"provider_id" doc:"The bank's id of the row, if readable"`
	Reason       string  `json:"reason" db:"reason" doc:"The unreadable part: shape, id, account, date, amount or currency"`
	Retryable    bool    `json:"retryable" db:"retryable" doc:"Whether the row was kept and can be retried"`
	FirstSeenAt  pg.Time `json:"first_seen_at" db:"first_seen_at"`
	LastSeenAt   pg.Time `json:"last_seen_at" db:"last_seen_at"`
}

const quarantineRows = `
	select id, short_id, connection_id, account_id, nullif(provider_id, '') as provider_id, reason,
		raw is not null as retryable, first_seen_at, last_seen_at from quarantine`

// ListQuarantine asks for a page of unreadable rows.
type ListQuarantine struct {
	ConnectionID *string `json:"connection_id,omitempty" minLength:"1" doc:"Filter by connection: UUID or short id"`
	Cursor       string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit        int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// A Quarantine is a page of unreadable rows, newest first.
type Quarantine struct {
	Rows       []Quarantined `json:"quarantine"`
	NextCursor string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool          `json:"has_more"`
}

// Quarantine returns a page of unreadable rows.
func (f *Connections) Quarantine(ctx context.Context, q pg.Querier, in ListQuarantine) (Quarantine, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := f.db.Pager(ctx, "quarantine", filters)
	if err != nil {
		return Quarantine{}, err
	}
	var of *id.ID
	if in.ConnectionID != nil {
		c, err := f.Connection(ctx, q, ConnectionRef{*in.ConnectionID})
		if err != nil {
			return Quarantine{}, err
		}
		of = &c.ID
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]Quarantined, error) {
		return pg.All[Quarantined](ctx, q, quarantineRows+` where ($1::uuid is null or connection_id = $1)
			and ($2::uuid is null or id < $2) order by id desc limit $3`, of, before, limit)
	}, func(r Quarantined) id.ID { return r.ID })
	return Quarantine{rows, next, next != ""}, err
}

// A QuarantineRef names an unreadable row.
type QuarantineRef struct {
	ID string `json:"id" minLength:"1" doc:"The quarantined row's UUID or short id"`
}

func noQuarantined(err error) error {
	return pg.Found(err, "quarantined row", "{quarantine.list} lists them")
}

// A Reread is the result of reading a row again.
type Reread struct {
	TransactionID id.ID  `json:"transaction_id" doc:"The transaction created from the row"`
	ChangeID      *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if only the transaction itself was added"`
	Added         bool   `json:"added" doc:"Whether the transaction is new"`
}

// reread reads a row again, with the current version of the provider's code. It does not call the
// bank.
func (f *Connections) reread(ctx context.Context, q pg.Querier, in QuarantineRef) (bank.Transaction, error) {
	type kept struct {
		ID       id.ID           `db:"id"`
		Provider string          `db:"provider"`
		Raw      []byte          `db:"raw"`
		Account  *string         `db:"account"`
		Currency *money.Currency `db:"currency"`
	}
	row, err := pg.One[kept](ctx, q, `
		select q.id, c.provider, q.raw, a.provider_id as account, a.currency
		from quarantine q join connection c on c.id = q.connection_id left join account a on a.id = q.account_id
			where q.id = $1 or q.short_id = $2`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return bank.Transaction{}, noQuarantined(err)
	}
	if row.Raw == nil {
		return bank.Transaction{}, errs.New(errs.Conflict,
			"the row's data was not kept, so it can't be retried; sync the connection, then delete this row "+
				"if it isn't resolved")
	}
	provider, err := f.Configured(ctx, row.Provider)
	if err != nil {
		return bank.Transaction{}, err
	}
	reader, ok := provider.(bank.Rereader)
	if !ok {
		return bank.Transaction{}, errs.New(errs.Conflict,
			"rows of this provider can't be retried; sync the connection")
	}
	raw, err := f.ring.Open(seal.Place{Table: "quarantine", Column: "raw", Row: row.ID.String()}, row.Raw)
	if err != nil {
		return bank.Transaction{}, err
	}
	var account bank.Account
	if row.Account != nil {
		account.ProviderID, account.Currency = *row.Account, *row.Currency
	}
	t, reason := reader.Reread(raw, account)
	if reason != "" {
		return bank.Transaction{}, errs.New(errs.Conflict,
			"the row still can't be read: its %s is invalid; update coffer and retry, or delete the row with "+
				"{quarantine.delete}",
			reason)
	}
	return t, nil
}

// RetryQuarantined adds a row that can now be read to the books. It merges the row and applies the
// rules as a sync does, as one change.
func (f *Connections) RetryQuarantined(ctx context.Context, tx pg.Tx, in QuarantineRef, t bank.Transaction) (Reread,
	error,
) {
	row, err := f.lockQuarantined(ctx, tx, in.ID)
	if err != nil {
		return Reread{}, err
	}
	account, err := pg.Value[id.ID](ctx, tx, `select id from account
		where connection_id = $1 and provider_id = $2`, row.ConnectionID, t.AccountID)
	if errors.Is(err, pg.ErrNoRow) {
		return Reread{}, errs.New(errs.Conflict,
			"the row can be read now, but its account is not in this connection; sync the connection first")
	}
	if err != nil {
		return Reread{}, err
	}
	if account, err = f.accounts.SurvivingOne(ctx, tx, account); err != nil {
		return Reread{}, err
	}
	rows := []ledger.Incoming{incoming(account, t)}
	taken, err := f.takeOver(ctx, tx, nil, rows)
	if err != nil {
		return Reread{}, err
	}
	m, _, err := f.rules.Merge(ctx, tx, row.ID, rows)
	if err != nil {
		return Reread{}, err
	}
	out := Reread{Added: len(m.Inserted) > 0}
	if err := journal.Tell(ctx, tx, nil, m.Events); err != nil {
		return Reread{}, err
	}
	if out.ChangeID, err = journal.Record(ctx, tx, journal.Note{
		Cause: journal.Sync, Summary: "Retried an unreadable row",
		Did: journal.Facts{With: map[string]id.ID{journal.WithConnection: row.ConnectionID}},
	}, append(taken, m.Entries...)); err != nil {
		return Reread{}, err
	}
	if err := release(ctx, tx, row.ConnectionID, []string{t.ProviderID}); err != nil {
		return Reread{}, err
	}
	// release does not delete rows without a readable id
	if _, err := pg.Exec(ctx, tx, `delete from quarantine where id = $1`, row.ID); err != nil {
		return Reread{}, err
	}
	out.TransactionID, err = pg.Value[id.ID](ctx, tx, `
		select id from transaction where account_id = $1 and provider_id = $2 union all select transaction_id
			from transaction_alias where account_id = $1 and provider_id = $2 limit 1`, account, t.ProviderID)
	return out, err
}

func (f *Connections) lockQuarantined(ctx context.Context, tx pg.Tx, ref string) (Quarantined, error) {
	row, err := pg.One[Quarantined](ctx, tx, quarantineRows+` where id = $1 or short_id = $2 for update`,
		pg.RefTo(ref).IDArgs()...)
	return row, noQuarantined(err)
}

// DropQuarantined deletes a row. If the bank sends the row again and it is still unreadable, it is
// quarantined again.
func (f *Connections) DropQuarantined(ctx context.Context, tx pg.Tx, in QuarantineRef) (op.Deleted, error) {
	row, err := f.lockQuarantined(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `delete from quarantine where id = $1`, row.ID)
	return op.Deleted{Deleted: true, ID: row.ID}, err
}

// release deletes quarantined rows that the bank has since sent in a readable form, or removed. So
// a row that stays in quarantine is newer than the stored row with the same id.
func release(ctx context.Context, tx pg.Tx, connection id.ID, providerIDs []string) error {
	_, err := pg.Exec(ctx, tx, `delete from quarantine where connection_id = $1 and provider_id = any($2)
		and provider_id <> ''`, connection, providerIDs)
	return err
}

package account

import (
	"context"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// mostManual is the maximum number of manual accounts in a household.
const mostManual = 200

// A Kind is the kind of an account that a person adds, in a household's words.
type Kind string

// kinds maps each kind to the account's type, subtype and balance method.
var kinds = []struct {
	kind                  Kind
	typ, subtype, balance string
}{
	{"cash", bank.Depository, "cash", byTransactions},
	{"checking", bank.Depository, "checking", byTransactions},
	{"savings", bank.Depository, "savings", byTransactions},
	{"card", bank.Credit, "credit_card", byTransactions},
	{"loan", bank.Loan, "loan", byTransactions},
	{"mortgage", bank.Loan, "mortgage", byTransactions},
	{"investment", bank.Investment, "brokerage", byValuations},
	{"pension", bank.Investment, "pension", byValuations},
	{"property", bank.Other, "property", byValuations},
	{"vehicle", bank.Other, "vehicle", byValuations},
	{"other_asset", bank.Other, "other_asset", byValuations},
	{"other_debt", bank.Loan, "other", byValuations},
}

// Enum lists the values of the type.
func (Kind) Enum() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k.kind)
	}
	return out
}

// CreateAccount is the input of CreateAccount.
type CreateAccount struct {
	Name            string          `json:"name" minLength:"1" maxLength:"200" format:"line" example:"Our house"`
	Kind            Kind            `json:"kind" example:"property" doc:"Account kind. The balance of cash, checking, savings, card, loan and mortgage follows its transactions; others keep the last entered value"`
	Currency        *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Defaults to the household's"`
	OwnerUserID     *string         `json:"owner_user_id,omitempty" minLength:"1" doc:"The owner: UUID or short id; defaults to you"`
	InstitutionName *string         `json:"institution_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The bank (optional)"`
	Balance         *money.Amount   `json:"balance,omitempty" doc:"Balance: its value or the money in it, or the debt of a card, loan, mortgage or other_debt"`
	BalanceDate     *pg.Date        `json:"balance_date,omitempty" doc:"Date of the balance (end of day); defaults to today"`
}

// CreateAccount adds a manual account.
func (r *Register) CreateAccount(ctx context.Context, tx pg.Tx, in CreateAccount) (Account, error) {
	type household struct {
		Currency money.Currency `db:"default_currency"`
		Today    pg.Date        `db:"today"`
		Manual   int            `db:"manual"`
	}
	// Callers wait for each other here, so that each one's count includes the other's account.
	if _, err := pg.Exec(ctx, tx, `select from setting for no key update`); err != nil {
		return Account{}, err
	}
	h, err := pg.One[household](ctx, tx, `select s.default_currency, `+today+` as today, (select count(*) from account
		where provider = $1 and deleted_at is null) as manual from setting s`, bank.Manual)
	switch {
	case err != nil:
		return Account{}, err
	case h.Manual >= mostManual:
		return Account{}, errs.New(errs.Conflict, "limit of %d manual accounts reached; delete one first",
			mostManual)
	case in.BalanceDate != nil && in.Balance == nil:
		return Account{}, errs.Field("balance", "required", "is required if balance_date is given")
	case in.BalanceDate != nil && in.BalanceDate.Time().After(h.Today.Time()):
		return Account{}, errs.Field("balance_date", "range", "must not be in the future")
	}
	owner, actor := op.ActorOf(ctx).Member, op.ActorOf(ctx)
	if in.OwnerUserID != nil {
		if owner, err = OwnerNamed(ctx, tx, *in.OwnerUserID); err != nil {
			return Account{}, err
		}
	}
	a := Incoming{
		Provider: bank.Manual, ProviderID: bank.Manual + ":" + id.Base62(12), OwnerID: owner,
		Name: text.Name(in.Name), InstitutionName: in.InstitutionName, Currency: h.Currency,
	}
	if in.Currency != nil {
		a.Currency = *in.Currency
	}
	for _, k := range kinds {
		if k.kind == in.Kind {
			a.Type, a.Subtype, a.Method = k.typ, k.subtype, k.balance
		}
	}
	if actor.Type == op.User {
		a.Held = []string{heldMethod, heldCurrency, heldName, heldSubtype, heldType}
		if in.InstitutionName != nil {
			a.Held = append(a.Held, heldInstitution)
		}
		slices.Sort(a.Held)
	}
	made, err := r.AddAccounts(ctx, tx, []Incoming{a})
	if err != nil {
		return Account{}, err
	}
	entries, err := r.Made(ctx, tx, made)
	if err != nil {
		return Account{}, err
	}
	if in.Balance != nil {
		day := h.Today
		if in.BalanceDate != nil {
			day = *in.BalanceDate
		}
		entered := newHandSaid(ctx, made[0], day, &handBalance{current: *in.Balance})
		if err := r.put(ctx, tx, []handSaid{entered}); err != nil {
			return Account{}, err
		}
		entries = append(entries, entered.entry)
	}
	if _, err = journal.Record(ctx, tx, journal.Note{}, entries); err != nil {
		return Account{}, err
	}
	return r.Account(ctx, tx, Ref{made[0].String()})
}

// OwnerNamed returns the member that owner_user_id names. The lock keeps the member from being
// deleted before this transaction commits.
func OwnerNamed(ctx context.Context, tx pg.Tx, ref string) (*id.ID, error) {
	u, err := pg.Value[id.ID](ctx, tx, `select id from member
		where deleted_at is null
		and (id = $1 or short_id = $2) for share`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return nil, pg.Named(err, "owner_user_id", "user", "{user.list} lists them")
	}
	return &u, nil
}

// DeleteAccount is the input of DeleteAccount.
type DeleteAccount struct {
	ID    string `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	Force bool   `json:"force,omitempty" doc:"Delete it even if a person set some of its values"`
}

// DeleteAccount deletes an account without transactions. Its balances stay with the tombstone, so
// that a revert can restore them.
func (r *Register) DeleteAccount(ctx context.Context, tx pg.Tx, in DeleteAccount) (op.None, error) {
	a, err := r.lockAccount(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := op.Match(ctx, a); err != nil {
		return op.None{}, err
	}
	rows, err := r.Rows(ctx, tx, a.ID)
	switch {
	case err != nil:
		return op.None{}, err
	case rows > 0:
		return op.None{}, errs.New(errs.InUse,
			"the account has %d transactions; {account.remove} removes both", rows)
	case len(a.Held) > 0 && journal.Held(new(op.User), op.ActorOf(ctx), in.Force):
		return op.None{}, errs.New(errs.Conflict,
			"a person set %s of this account, so it is locked (held); pass force: true to delete it anyway", a.Held[0])
	}
	entries, err := r.Remove(ctx, tx, a.ID)
	if err != nil {
		return op.None{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return op.None{}, err
}

// Rows counts an account's transactions.
func (r *Register) Rows(ctx context.Context, q pg.Querier, account id.ID) (int64, error) {
	return pg.Value[int64](ctx, q, `select count(*) from transaction t
		where t.account_id = $1 and t.deleted_at is null and `+journal.BankRow, account)
}

// Removable returns an error if the account's connection still syncs.
func (r *Register) Removable(ctx context.Context, q pg.Querier, account id.ID) error {
	syncs, err := pg.Value[bool](ctx, q, `
		select coalesce(c.provider <> 'csv' and c.status <> 'disconnected', false)
		from account a left join connection c on c.id = a.connection_id where a.id = $1`, account)
	if err == nil && syncs {
		err = errs.New(errs.Conflict,
			"the next sync would restore this account; hide it, or disconnect the bank first")
	}
	return err
}

// Remove makes an account a tombstone and returns the entries of that change. Its balances stay
// with it.
func (r *Register) Remove(ctx context.Context, tx pg.Tx, account id.ID) ([]journal.Entry, error) {
	if _, err := r.lockAccount(ctx, tx, account.String()); err != nil {
		return nil, err
	}
	if err := r.Removable(ctx, tx, account); err != nil {
		return nil, err
	}
	return definition.Around(ctx, tx, []id.ID{account}, journal.Source(op.ActorOf(ctx)), func() error {
		_, err := pg.Exec(ctx, tx, `update account set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
			where id = $1`, account)
		return err
	})
}

// lockAccount returns an account and locks it until the transaction ends.
func (r *Register) lockAccount(ctx context.Context, tx pg.Tx, ref string) (Account, error) {
	return r.judged(ctx, tx)(pg.One[Account](ctx, tx, accountRows+` where a.deleted_at is null
		and (a.id = $1 or a.short_id = $2) for update of a`, pg.RefTo(ref).IDArgs()...))
}

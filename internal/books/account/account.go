// Package account keeps the household's accounts, from banks and by hand: their names and owners,
// their daily balances, and the proof that the transactions between two stated balances add up to
// the difference. It must not know what a transaction means: it only adds up amounts.
package account

import (
	"context"

	"coffer/internal/bank/all"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Register is one household's accounts.
type Register struct{ db *pg.DB }

// New returns a Register.
func New(db *pg.DB) *Register { return &Register{db: db} }

// An Account is an account at a bank or one entered by hand, with the household's name for it and
// its owner.
type Account struct {
	ID               id.ID           `json:"id" db:"id"`
	ShortID          string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	ConnectionID     *id.ID          `json:"connection_id" db:"connection_id"`
	Provider         all.Keeper      `json:"provider" db:"provider"`
	UserID           *id.ID          `json:"user_id" db:"user_id" doc:"Who owns it: owner_user_id if set, else the connection's member"`
	UserName         *string         `json:"user_name" db:"user_name"`
	OwnerUserID      *id.ID          `json:"owner_user_id" db:"owner_id" doc:"Overrides the connection's member"`
	Name             text.Untrusted  `json:"name" db:"name" doc:"Untrusted: the bank's text"`
	DisplayName      *string         `json:"display_name" db:"display_name" doc:"The household's name for it, shown instead of name"`
	OfficialName     *text.Untrusted `json:"official_name" db:"official_name" doc:"Untrusted: the bank's text"`
	Type             string          `json:"type" db:"type" enum:"depository,credit,loan,investment,other"`
	TypeGuessed      bool            `json:"type_guessed" db:"type_guessed" doc:"The provider reports no type, so coffer guessed it from the name: ask a person once to set the right type, or to confirm this one by setting it again"`
	Subtype          *text.Untrusted `json:"subtype" db:"subtype" doc:"Untrusted: the bank's own term"`
	Mask             *text.Untrusted `json:"mask" db:"mask" doc:"Untrusted: the last digits of its number, as the bank wrote them"`
	Currency         money.Currency  `json:"iso_currency_code" db:"currency"`
	BalanceCurrent   *money.Amount   `json:"balance_current" db:"balance_current" doc:"As reported by the bank: the money in the account, or the debt of a credit or loan account"`
	BalanceAvailable *money.Amount   `json:"balance_available" db:"balance_available" doc:"As reported by the bank"`
	BalanceLimit     *money.Amount   `json:"balance_limit" db:"balance_limit" doc:"For a credit account: as reported by the bank"`
	BalanceAsOf      *pg.Time        `json:"balance_as_of" db:"balance_as_of"`
	BalanceToday     *money.Amount   `json:"balance_today" db:"balance_today" doc:"Today's balance: the last reported balance plus posted transactions since; null if it is unknown"`
	BalanceDerived   bool            `json:"balance_today_derived" db:"balance_today_derived" doc:"Whether balance_today is calculated, because no balance was reported today"`
	BalanceDate      *pg.Date        `json:"balance_date" db:"balance_date" doc:"Date of the last reported balance"`
	BalanceSource    *string         `json:"balance_source" db:"balance_source" enum:"provider,statement,manual" doc:"Source of the balance"`
	BalanceMethod    string          `json:"balance_method" db:"balance_method" enum:"transactions,valuations" doc:"transactions: the balance follows the transactions; valuations: only entered balances count"`
	InstitutionName  *text.Untrusted `json:"institution_name" db:"institution_name" doc:"The bank: as entered by the household, else as reported by the provider (untrusted)"`
	ClosedOn         *pg.Date        `json:"closed_on" db:"closed_on" doc:"Its last day; after it the balance is 0"`
	BooksStatus      string          `json:"books_status" db:"-" enum:"proved,gap,open,none" doc:"Whether its transactions match its balances, as in its proof"`
	Hidden           bool            `json:"hidden" db:"hidden" doc:"Excluded from totals unless a filter includes it"`
	ReviewFrom       *pg.Date        `json:"review_from" db:"review_from" doc:"New transactions dated before this day skip review; null: all are reviewed"`
	LowBalance       *money.Amount   `json:"low_balance" db:"low_balance" doc:"Low-balance threshold for notifications; null: off"`
	Held             []string        `json:"held" db:"held" enum:"display_name,hidden,owner,name,iso_currency_code,institution_name,type,subtype,balance_method,closed_on" doc:"Fields that a person set: an agent needs force to change them"`
	CreatedAt        pg.Time         `json:"created_at" db:"created_at"`
	UpdatedAt        pg.Time         `json:"updated_at" db:"updated_at"`
	Notes            []op.Note       `json:"notes,omitempty" db:"-" doc:"After a change: caveats about it"`
}

// A ToolAccount is an Account as tools return it.
type ToolAccount struct {
	ID               id.ID           `json:"id" doc:"Short id"`
	Name             text.Untrusted  `json:"name" doc:"The household's name for it, else the bank's (untrusted)"`
	Provider         all.Keeper      `json:"provider"`
	UserID           *id.ID          `json:"user_id" doc:"Who owns it"`
	UserName         *string         `json:"user_name"`
	Type             string          `json:"type" enum:"depository,credit,loan,investment,other"`
	TypeGuessed      bool            `json:"type_guessed" db:"type_guessed" doc:"The provider reports no type, so coffer guessed it from the name: ask a person once to set the right type, or to confirm this one by setting it again"`
	Subtype          *text.Untrusted `json:"subtype" doc:"Untrusted: the bank's own term"`
	Mask             *text.Untrusted `json:"mask" doc:"Untrusted: the last digits of its number"`
	Currency         money.Currency  `json:"iso_currency_code"`
	BalanceCurrent   *money.Amount   `json:"balance_current" doc:"The money in the account, or the debt of a credit or loan account"`
	BalanceAvailable *money.Amount   `json:"balance_available"`
	BalanceAsOf      *pg.Time        `json:"balance_as_of"`
	BalanceToday     *money.Amount   `json:"balance_today" doc:"The last reported balance plus posted transactions since"`
	BalanceDate      *pg.Date        `json:"balance_date" doc:"Date of the last reported balance"`
	BalanceSource    *string         `json:"balance_source" enum:"provider,statement,manual" doc:"Source of the balance"`
	BooksStatus      string          `json:"books_status" enum:"proved,gap,open,none" doc:"proved: transactions match the balances; gap: a mismatch exists; open: not enough data; none: no balance, or the value doesn't depend on transactions"`
	Hidden           bool            `json:"hidden"`
}

func toolAccounts(accounts []Account) []ToolAccount {
	out := make([]ToolAccount, len(accounts))
	for i, a := range accounts {
		out[i] = ToolAccount{
			ID: a.ID, Name: a.Name, Provider: a.Provider, UserID: a.UserID, UserName: a.UserName, Type: a.Type,
			Subtype: a.Subtype, Mask: a.Mask,
			Currency: a.Currency, BalanceCurrent: a.BalanceCurrent, BalanceAvailable: a.BalanceAvailable,
			BalanceAsOf: a.BalanceAsOf, BalanceToday: a.BalanceToday, BalanceDate: a.BalanceDate,
			BalanceSource: a.BalanceSource, BooksStatus: a.BooksStatus, Hidden: a.Hidden,
		}
		if a.DisplayName != nil && *a.DisplayName != "" {
			out[i].Name = text.Line(*a.DisplayName, 200)
		}
	}
	return out
}

// Moves is the condition for transactions t that change their account's balance: posted and not
// deleted. Parts of another transaction do not count. A manual transaction that is matched with the
// bank's does not count either, because the bank's row does.
const Moves = `t.deleted_at is null and not t.pending and ` + journal.BankRow + `
	and not (t.origin = 'manual' and t.excluded)`

// accountRows selects accounts with today's balance, derived as for any other day: the last stated
// balance plus the posted transactions since. If the account's value does not follow from its
// transactions, today's balance is the last stated one.
const accountRows = `
	select a.id, a.short_id, a.connection_id, a.provider, coalesce(a.owner_id, cn.member_id) as user_id,
		m.name as user_name, a.owner_id,
		a.name, a.display_name, a.official_name, a.type,
		a.guessed and not 'type' = any(a.held) as type_guessed, a.subtype, a.mask, a.currency,
		a.balance_current, a.balance_available, a.balance_limit, a.balance_as_of,
		case when a.closed_on < ` + today + ` then 0
			when abs(st.current + mv.moved) < 1e10 then st.current + mv.moved end as balance_today,
		coalesce(a.closed_on < ` + today + ` or st.day <> ` + today + `, false) as balance_today_derived,
		st.day as balance_date, st.source as balance_source,
		a.balance_method, coalesce(a.institution_name, cn.institution_name) as institution_name, a.closed_on,
		a.hidden, a.review_from, a.low_balance, a.held, a.created_at, a.updated_at
	from account a
	cross join setting s
	left join connection cn on cn.id = a.connection_id
	left join member m on m.id = coalesce(a.owner_id, cn.member_id)
	left join lateral (
		select b.day, b.current, b.source from account_balance b
		where b.account_id = a.id and b.current is not null and b.day <= ` + today + `
		order by b.day desc, array_position(array['manual', 'statement', 'provider'], b.source) limit 1) st on true
	left join lateral (
		select case when a.type in ('credit', 'loan') then 1 else -1 end * coalesce(sum(t.amount), 0) as moved
		from transaction t
		where a.balance_method = 'transactions' and t.account_id = a.id and t.date > st.day and t.date <= ` + today + `
			and t.currency = a.currency and ` + Moves + `) mv on true`

// Ops returns the operations on accounts.
func (r *Register) Ops() []*op.Op {
	return []*op.Op{
		op.Shaped(op.Reading(op.Spec{
			Name: "account.list", Route: "GET /accounts", Tool: "list_accounts", Record: true,
			Summary: "Lists the accounts with their balances, hidden ones included.",
			Agent: "Lists the accounts with owner, currency and balances, hidden ones included. Never add " +
				"balances of different currencies; on credit and loan accounts balance_current is the " +
				"debt.",
			Adds: &op.Adding{
				Args: []string{},
				Fields: []string{
					"id", "short_id", "name", "display_name", "mask", "type", "iso_currency_code",
					"institution_name", "user_id", "closed_on", "hidden",
				},
			},
		}, r.Accounts), toolAccounts),
		op.Reading(op.Spec{Name: "account.get", Route: "GET /accounts/{id}", Summary: "Shows one account."}, r.Account),
		op.Writing(op.Spec{
			Name: "account.update", Route: "PATCH /accounts/{id}",
			Summary: "Changes an account's name, owner, type, institution, closing date or visibility.",
		}, r.PatchAccount),
		op.Writing(op.Spec{
			Name: "account.create", Route: "POST /accounts",
			Summary: "Adds a manual account, such as cash, a house or a loan.",
		}, r.CreateAccount),
		op.Writing(op.Spec{
			Name: "account.delete", Route: "DELETE /accounts/{id}",
			Summary: "Deletes an account that has no transactions.",
		}, r.DeleteAccount),
		op.Reading(op.Spec{
			Name: "account.balances", Route: "GET /accounts/{id}/balances",
			Summary: "Shows an account's daily balances and their source, newest first.",
		}, r.Balances),
		op.Writing(op.Spec{
			Name: "balance.set", Route: "PUT /accounts/{id}/balances/{day}", Tool: "set_balance", Overwrites: true,
			Summary: "Sets an account's balance at the end of a day.",
			Agent: "Sets an account's end-of-day balance as entered by the household. It overrides the bank " +
				"and statements for that day.",
		}, r.SetBalance),
		op.Writing(op.Spec{
			Name: "balance.delete", Route: "DELETE /accounts/{id}/balances/{day}",
			Summary: "Removes a manually set balance; the statement or bank balance applies again.",
		}, r.DeleteBalance),
		op.Reading(op.Spec{
			Name: "account.proof", Route: "GET /accounts/{id}/proof",
			Summary: "Checks one account: where its transactions match its balances and where they don't.",
		}, r.Proof),
		op.Reading(op.Spec{
			Name: "proof.list", Route: "GET /proof", Heavy: true, // slow after the books of many accounts changed
			Summary: "Checks every account: whether its transactions match its balances.",
		}, r.Proofs),
	}
}

// Accounts returns all accounts, ordered by name.
func (r *Register) Accounts(ctx context.Context, q pg.Querier, _ op.None) ([]Account, error) {
	all, err := pg.All[Account](ctx, q, accountRows+` where a.deleted_at is null
		order by lower(coalesce(nullif(a.display_name, ''), a.name)), a.id`)
	if err != nil {
		return nil, err
	}
	return all, r.judge(ctx, q, all)
}

// A Ref names an account.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The account's UUID or short id"`
}

// Account returns one account.
func (r *Register) Account(ctx context.Context, q pg.Querier, in Ref) (Account, error) {
	return r.judged(ctx, q)(pg.One[Account](ctx, q, accountRows+` where a.deleted_at is null
		and (a.id = $1 or a.short_id = $2)`, pg.RefTo(in.ID).IDArgs()...))
}

// judged adds the status of the books to an account that was just read.
func (r *Register) judged(ctx context.Context, q pg.Querier) func(Account, error) (Account, error) {
	return func(a Account, err error) (Account, error) {
		if err != nil {
			return Account{}, noAccount(err)
		}
		one := []Account{a}
		err = r.judge(ctx, q, one)
		return one[0], err
	}
}

func noAccount(err error) error { return pg.Found(err, "account", "{account.list} lists them") }

// ReassignOwner transfers the accounts that one member owns to another member.
func (r *Register) ReassignOwner(ctx context.Context, tx pg.Tx, from, into id.ID) error {
	_, err := pg.Exec(ctx, tx, `update account set owner_id = $2, updated_at = clock_timestamp()
		where owner_id = $1`, from, into)
	return err
}

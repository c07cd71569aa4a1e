package account

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// PatchAccount is the input of PatchAccount.
type PatchAccount struct {
	ID              string                `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	DisplayName     op.Null[string]       `json:"display_name,omitzero" maxLength:"200" format:"line" doc:"The household's name for it; null or an empty string restores the bank's name"`
	OwnerUserID     op.Null[string]       `json:"owner_user_id,omitzero" minLength:"1" doc:"The owner: UUID or short id; null restores the connection's member"`
	Hidden          *bool                 `json:"hidden,omitempty" doc:"Exclude it from totals unless a filter includes it"`
	ReviewFrom      op.Null[pg.Date]      `json:"review_from,omitzero" doc:"New transactions dated before this day skip review; null: all are reviewed. Stored transactions keep their tags"`
	Name            *string               `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Only for a manual account"`
	Currency        *money.Currency       `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Only for a manual account without transactions"`
	InstitutionName op.Null[string]       `json:"institution_name,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"The bank; only for a manual or file account"`
	Type            *string               `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"Balances of credit and loan accounts are debts. A new type changes the sign of statement balances; balances that someone entered stay as entered"`
	Subtype         op.Null[string]       `json:"subtype,omitzero" minLength:"1" maxLength:"60" format:"line" doc:"A finer type, such as savings"`
	BalanceMethod   *string               `json:"balance_method,omitempty" enum:"transactions,valuations" doc:"transactions: the balance follows the transactions; valuations: only entered balances count"`
	ClosedOn        op.Null[pg.Date]      `json:"closed_on,omitzero" doc:"Its last day; after it the balance is 0. null: it is open"`
	LowBalance      op.Null[money.Amount] `json:"low_balance,omitzero" doc:"Low-balance threshold for notifications; null: off. Not for a credit or loan account"`
	Force           bool                  `json:"force,omitempty" doc:"Override values set by a person"`
}

// PatchAccount changes the household's fields of an account; the bank's fields stay.
func (r *Register) PatchAccount(ctx context.Context, tx pg.Tx, in PatchAccount) (Account, error) {
	a, err := r.lockAccount(ctx, tx, in.ID)
	if err != nil {
		return Account{}, err
	}
	if err := op.Match(ctx, a); err != nil {
		return Account{}, err
	}
	var owner *id.ID
	if in.OwnerUserID.Value != nil {
		if owner, err = OwnerNamed(ctx, tx, *in.OwnerUserID.Value); err != nil {
			return Account{}, err
		}
	}
	if err := in.fits(ctx, tx, a); err != nil {
		return Account{}, err
	}
	held, wording, err := in.held(a, owner, op.ActorOf(ctx))
	if err != nil {
		return Account{}, err
	}
	err = definition.Recorded(ctx, tx, []id.ID{a.ID}, journal.Note{
		Summary: wording + " an account",
	}, func() (entries []journal.Entry, err error) {
		err = following(ctx, tx, []id.ID{a.ID}, func() error { return in.write(ctx, tx, a.ID, owner, held) })
		if err != nil || in.Name == nil || *in.Name == a.Name.Plain() {
			return nil, err
		}
		return []journal.Entry{{
			Subject: journal.Account, SubjectID: a.ID, Field: fieldName, Before: new(a.Name.Plain()), After: in.Name,
			AfterSource: new(journal.Source(op.ActorOf(ctx))),
		}}, nil
	})
	if err != nil {
		return Account{}, err
	}
	now, err := r.Account(ctx, tx, Ref{a.ID.String()})
	if err == nil && in.LowBalance.Value != nil && now.BalanceToday == nil {
		now.Notes = []op.Note{{
			Code: "no_balance", See: op.See(ctx, "balance.set"),
			Message: "the account has no balance yet, so low-balance notifications can't be sent; enter " +
				"a balance first",
		}}
	}
	return now, err
}

// write stores the given fields.
func (in PatchAccount) write(ctx context.Context, tx pg.Tx, account id.ID, owner *id.ID, held []string) error {
	_, err := pg.Exec(ctx, tx, `
		update account set
			display_name = case when @display_given then @display else display_name end,
			owner_id = case when @owner_given then @owner::uuid else owner_id end,
			hidden = coalesce(@hidden, hidden), held = @held,
			review_from = case when @review_given then @review::date else review_from end,
			name = coalesce(@name, name), currency = coalesce(@currency, currency),
			institution_name = case when @institution_given then @institution else institution_name end,
			type = coalesce(@type, type), balance_method = coalesce(@method, balance_method),
			subtype = case when @subtype_given then @subtype else subtype end,
			low_balance = case when @low_given then @low::numeric else low_balance end,
			low_since = case when @low_given then null else low_since end,
			closed_on = case when @closed_given then @closed::date else closed_on end, updated_at = clock_timestamp()
		where id = @id`, pg.Args{
		"id": account, "display_given": in.DisplayName.Set, "display": in.DisplayName.Value,
		"owner_given": in.OwnerUserID.Set, "owner": owner, "hidden": in.Hidden, "held": held,
		"review_given": in.ReviewFrom.Set, "review": in.ReviewFrom.Value, "name": in.Name,
		"currency": (*string)(in.Currency), "institution_given": in.InstitutionName.Set,
		"institution": in.InstitutionName.Value, "type": in.Type, "method": in.BalanceMethod,
		"subtype_given": in.Subtype.Set, "subtype": in.Subtype.Value,
		"low_given": in.LowBalance.Set, "low": in.LowBalance.Value,
		"closed_given": in.ClosedOn.Set, "closed": in.ClosedOn.Value,
	})
	return err
}

// fits returns an error for fields that cannot be changed on this kind of account.
func (in PatchAccount) fits(ctx context.Context, q pg.Querier, a Account) error {
	manual := string(a.Provider) == bank.Manual
	switch {
	case in.Name != nil && *in.Name != a.Name.Plain() && !manual:
		return errs.New(errs.Conflict, "the bank sets this name; use display_name to rename the account")
	case in.Currency != nil && *in.Currency != a.Currency && !manual:
		return errs.New(errs.Conflict, "the bank sets this currency; only manual accounts can change it")
	case in.InstitutionName.Set && !same(in.InstitutionName.Value, plain(a.InstitutionName)) && !manual &&
		string(a.Provider) != bank.CSV:
		return errs.New(errs.Conflict,
			"the bank sets this institution; only manual and file accounts can change it")
	case in.LowBalance.Value != nil && (a.Type == "credit" || a.Type == "loan"):
		return errs.Field("low_balance", "conflict", "must be null: a credit or loan account's balance is a debt")
	case in.Currency == nil || *in.Currency == a.Currency:
		return nil
	}
	rows, err := pg.Value[int64](ctx, q, `select count(*) from transaction where account_id = $1 and deleted_at is null`,
		a.ID)
	if err == nil && rows > 0 {
		err = errs.New(errs.InUse, "the account has %d transactions, so its currency can't change; add "+
			"another account", rows)
	}
	return err
}

func plain(t *text.Untrusted) *string {
	if t == nil {
		return nil
	}
	return new(t.Plain())
}

// held returns the fields that are held after this patch, and a phrase for the change's summary. A
// field that a person sets becomes held. If a person clears it, or an agent changes it with force,
// it is no longer held.
func (in PatchAccount) held(a Account, owner *id.ID, actor op.Actor) (held []string, wording string, err error) {
	held = slices.Clone(a.Held)
	var did []string
	for _, f := range []struct {
		name, verb           string
		given, differs, none bool
	}{
		{
			heldDisplay, "renamed", in.DisplayName.Set, !same(in.DisplayName.Value, a.DisplayName),
			in.DisplayName.Value == nil,
		},
		{heldName, "renamed", in.Name != nil, !kept(in.Name, a.Name.Plain()), false},
		{heldOwner, "changed the owner of", in.OwnerUserID.Set, !same(owner, a.OwnerUserID), owner == nil},
		{heldHidden, hiding(in.Hidden), in.Hidden != nil, !kept(in.Hidden, a.Hidden), false},
		{heldCurrency, "changed the currency of", in.Currency != nil, !kept(in.Currency, a.Currency), false},
		{
			heldInstitution, "changed the institution of", in.InstitutionName.Set,
			!same(in.InstitutionName.Value, plain(a.InstitutionName)), in.InstitutionName.Value == nil,
		},
		{heldType, "changed the type of", in.Type != nil, !kept(in.Type, a.Type), false},
		{
			heldSubtype, "changed the type of", in.Subtype.Set, !same(in.Subtype.Value, plain(a.Subtype)),
			in.Subtype.Value == nil,
		},
		{heldMethod, "changed the type of", in.BalanceMethod != nil, !kept(in.BalanceMethod, a.BalanceMethod), false},
		{
			heldClosed, closing(in.ClosedOn.Value), in.ClosedOn.Set, !same(in.ClosedOn.Value, a.ClosedOn),
			in.ClosedOn.Value == nil,
		},
	} {
		is := slices.Contains(held, f.name)
		if f.given && f.differs {
			if !slices.Contains(did, f.verb) {
				did = append(did, f.verb)
			}
			if is && journal.Held(new(op.User), actor, in.Force) {
				return nil, "", errs.New(errs.Conflict,
					"a person set %s, so it is locked (held); pass force: true to change it anyway", f.name)
			}
		}
		if f.given && (f.differs || actor.Type == op.User) {
			held = slices.DeleteFunc(held, func(h string) bool { return h == f.name })
			if actor.Type == op.User && !f.none {
				held = append(held, f.name)
			}
		}
	}
	slices.Sort(held)
	if in.ReviewFrom.Set && !same(in.ReviewFrom.Value, a.ReviewFrom) {
		did = append(did, "changed the review start of")
	}
	if in.LowBalance.Set && !same(in.LowBalance.Value, a.LowBalance) {
		did = append(did, "changed the low balance alert of")
	}
	if len(did) == 0 {
		did = []string{"confirmed"} // a person repeats an agent's value and holds it from now on
	}
	wording = strings.Join(did, ", ")
	return held, strings.ToUpper(wording[:1]) + wording[1:], nil
}

func hiding(hidden *bool) string {
	if hidden != nil && *hidden {
		return "hid"
	}
	return "showed"
}

func closing(day *pg.Date) string {
	if day != nil {
		return "closed"
	}
	return "reopened"
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// kept reports whether the patch leaves a value unchanged, because it gives no value or an equal
// one.
func kept[T comparable](given *T, is T) bool { return given == nil || *given == is }

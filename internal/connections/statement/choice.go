package statement

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// An AccountChoice says what happens with one of the accounts of a file.
type AccountChoice struct {
	Key           string         `json:"key" minLength:"1" maxLength:"500" doc:"The account in the file, as the preview names it"`
	AccountID     *string        `json:"account_id,omitempty" minLength:"1" doc:"The account to import into: UUID or short id"`
	Create        *AccountCreate `json:"create,omitempty" doc:"Create an account for it, or use the connection's account of this name"`
	Skip          bool           `json:"skip,omitempty" doc:"Leave it out"`
	IncludeLikely bool           `json:"include_likely_duplicates,omitempty" doc:"Also import rows that another source seems to have brought"`
}

// An AccountCreate is an account to create for a file.
type AccountCreate struct {
	Name            string         `json:"name" minLength:"1" maxLength:"200" format:"line"`
	Type            string         `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"Defaults to the file's, else depository"`
	Currency        money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Defaults to the file's"`
	InstitutionName *string        `json:"institution_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The bank, if it is not the connection's"`
	OwnerUserID     *string        `json:"owner_user_id,omitempty" minLength:"1" doc:"The owner: UUID or short id; defaults to the connection's"`
}

// A target is the account that a portion of a file goes into. It may have to be created.
type target struct {
	Key     string      `json:"key"`
	Account *id.ID      `json:"account_id,omitempty"` // nil if the account must be created, unless it exists by then
	New     *newAccount `json:"new_account,omitempty"`
	Whole   bool        `json:"whole,omitempty"` // the target gets all that was sent, whatever accounts the file names
	Likely  bool        `json:"likely,omitempty"`
}

// targets returns the target of each portion. A file of one account goes where the caller says, or
// into the connection's only account. A file of several accounts needs a choice for each.
func (s *Statements) targets(ctx context.Context, tx pg.Tx, c connection.Connection, in ImportFile, d delivered,
	only *fileAccount,
) ([]target, error) {
	all := d.portions()
	if in.Accounts == nil {
		if in.Account != nil && only != nil && len(all) == 1 {
			if err := s.sameNumber(ctx, tx, *only, all[0]); err != nil {
				return nil, err
			}
		}
		t, err := s.oneTarget(c, in, d, only)
		return []target{t}, err
	}
	var out []target
	taken := map[string]bool{}
	for i, choice := range in.Accounts {
		at := slices.IndexFunc(all, func(p portion) bool { return p.key == choice.Key })
		field := fmt.Sprintf("accounts[%d]", i)
		switch {
		case at < 0:
			return nil, errs.Field(field+".key", "reference", "must be the key of an account that the preview shows")
		case taken[choice.Key]:
			return nil, errs.Field(field+".key", "conflict", "must not be given twice")
		}
		taken[choice.Key] = true
		t, err := s.choose(ctx, tx, c, in, choice, all[at])
		if err != nil {
			return nil, errs.Within(field, err)
		}
		if t != nil {
			out = append(out, *t)
		}
	}
	for _, p := range all {
		if !taken[p.key] {
			return nil, errs.Field("accounts", "required", "must have each of the file's %d accounts; skip leaves one "+
				"out", len(all))
		}
	}
	if len(out) == 0 {
		return nil, errs.Field("accounts", "conflict", "must not skip every account")
	}
	return out, oneEach(out, all)
}

// oneEach returns an error if two accounts of one file would go into the same one: the file says
// that they are different, and nothing would distinguish their rows.
func oneEach(targets []target, all []portion) error {
	files := map[string][]int{}
	for _, t := range targets {
		into := "new " + text.Fold(nameOf(t))
		if t.Account != nil {
			into = t.Account.String()
		}
		p := all[slices.IndexFunc(all, func(p portion) bool { return p.key == t.Key })]
		for _, n := range p.of {
			if slices.Contains(files[into], n) {
				return errs.Field("accounts", "conflict", "must not put two accounts of one file into the same account")
			}
		}
		files[into] = append(files[into], p.of...)
	}
	return nil
}

func nameOf(t target) string {
	if t.New == nil {
		return ""
	}
	return t.New.Name
}

// oneTarget returns the target of a file of one account. It also accepts a table of several
// accounts if the caller names one account: a column that looks like account numbers may hold
// something else.
func (s *Statements) oneTarget(c connection.Connection, in ImportFile, d delivered, only *fileAccount) (target,
	error,
) {
	all := d.portions()
	t := target{Key: all[0].key, Likely: in.IncludeLikely}
	p := all[0]
	if len(all) > 1 {
		table := !slices.ContainsFunc(d.files, func(f namedFile) bool { return f.Table == nil })
		if !table || in.AccountID == nil && in.Account == nil {
			return t, errs.Field("accounts", "required", "is required: the file has %d accounts; for each, give its "+
				"key from the preview and account_id, create or skip", len(all))
		}
		t.Whole, p = true, d.whole()
	}
	if only != nil && in.AccountID == nil && in.Account == nil {
		if err := only.ofFile(p.file()); err != nil {
			return t, err
		}
	}
	if only != nil {
		t.Account = &only.ID
	} else {
		t.New = nameAccount(c, in, p)
	}
	return t, nil
}

// choose returns the target of a choice, or nil if the portion is skipped.
func (s *Statements) choose(ctx context.Context, tx pg.Tx, c connection.Connection, in ImportFile,
	choice AccountChoice, p portion,
) (*target, error) {
	t := &target{Key: p.key, Likely: choice.IncludeLikely}
	choices := 0
	for _, is := range []bool{choice.AccountID != nil, choice.Create != nil, choice.Skip} {
		if is {
			choices++
		}
	}
	switch {
	case choices != 1:
		return nil, errs.Field("account_id", "required", "or create or skip is required, and only one of them")
	case choice.Skip:
		return nil, nil //nolint:nilnil // it has none
	case choice.AccountID != nil:
		a, err := s.fileAccountNamed(ctx, tx, *choice.AccountID)
		if err == nil && p.Currency != "" && p.Currency != a.Currency {
			err = errs.Field("account_id", "conflict", "must be an account in %s: that is the currency of the file",
				p.Currency)
		}
		if err != nil {
			return nil, err
		}
		t.Account = &a.ID
		return t, nil
	}
	w := choice.Create
	named := ImportFile{
		Options: in.Options, FileOptions: in.FileOptions, FileName: in.FileName,
		Account: &FileAccount{Name: w.Name, Type: w.Type, Currency: w.Currency},
	}
	t.New = nameAccount(c, named, p)
	if w.InstitutionName != nil && (c.InstitutionName == nil || c.InstitutionName.Plain() != *w.InstitutionName) {
		t.New.Institution = w.InstitutionName
	}
	if w.OwnerUserID != nil {
		owner, err := account.OwnerNamed(ctx, tx, *w.OwnerUserID)
		if err != nil {
			return nil, err
		}
		t.New.Owner = owner
	}
	there, err := s.chooseAccount(ctx, tx, c.ID, nil, &t.New.FileAccount)
	if err != nil {
		return nil, err
	}
	if there != nil {
		if err := s.sameNumber(ctx, tx, *there, p); err != nil {
			return nil, err
		}
		t.Account, t.New = &there.ID, nil
	}
	return t, nil
}

// fileAccountNamed returns an account into which files can be imported. Its connection must not be
// disconnected.
func (s *Statements) fileAccountNamed(ctx context.Context, q pg.Querier, ref string) (fileAccount, error) {
	a, err := pg.One[fileAccount](ctx, q, `
		select a.id, a.short_id, a.name, a.display_name, a.type, a.mask, a.currency from account a
		join connection c on c.id = a.connection_id
		where (a.deleted_at is null or a.merged_into is not null) and c.status <> 'disconnected' and a.provider <> $3
			and (a.id = $1 or a.short_id = $2)`, append(pg.RefTo(ref).IDArgs(), bank.Manual)...)
	if err != nil {
		return a, pg.Named(err, "account_id", "account of a connection", "{account.list} lists them")
	}
	return a, nil
}

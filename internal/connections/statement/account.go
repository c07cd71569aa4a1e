package statement

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A fileAccount is an account of a connection for files.
type fileAccount struct {
	ID          id.ID          `db:"id"`
	ShortID     string         `db:"short_id"`
	Name        string         `db:"name"`
	DisplayName *string        `db:"display_name"`
	Type        string         `db:"type"`
	Mask        *string        `db:"mask"`
	Currency    money.Currency `db:"currency"`
	Into        id.ID          `db:"-"` // itself, or the account that it was merged into
}

func (a fileAccount) called(name string) bool {
	name = text.Fold(name)
	return text.Fold(a.Name) == name || a.DisplayName != nil && text.Fold(*a.DisplayName) == name
}

// fits reports whether the account has the type and currency that a caller names.
func (a fileAccount) fits(w *FileAccount) bool {
	return (w.Type == "" || w.Type == a.Type) && (w.Currency == "" || w.Currency == a.Currency)
}

// A newAccount is an account to create for a file.
type newAccount struct {
	FileAccount
	Named       bool    `json:"named"` // the caller chose the name, so an existing account of that name is used
	Mask        string  `json:"mask,omitempty"`
	Subtype     string  `json:"subtype,omitempty"`
	Institution *string `json:"institution,omitempty"` // nil if it is the connection's
	Owner       *id.ID  `json:"owner,omitempty"`
}

// chooseAccount returns the account for a file: the account with the given id, the account with the
// given name, or the connection's only account. The account may have been merged into another. It
// returns nil if an account must be created. The caller has locked the connection, so nobody else
// creates one meanwhile.
func (s *Statements) chooseAccount(ctx context.Context, tx pg.Tx, connection id.ID, ref *string, want *FileAccount) (
	*fileAccount, error,
) {
	rows, err := s.accountsOf(ctx, tx, connection)
	switch {
	case err != nil:
		return nil, err
	case ref != nil && want != nil:
		return nil, errs.Field("account", "conflict", "must be omitted if account_id is given")
	case ref != nil:
		for i, r := range rows {
			if r.ShortID == *ref || r.ID.String() == strings.ToLower(*ref) {
				return &rows[i], nil
			}
		}
		return nil, pg.Named(pg.ErrNoRow, "account_id", "account of this connection", "{account.list} lists them")
	case want != nil:
		return ofName(rows, want)
	}
	only := distinct(rows)
	switch {
	case len(only) > 1:
		return nil, errs.Field("account_id", "required", "is required: this connection has several accounts")
	case len(only) == 1:
		if len(rows) > 1 { // others were merged into it, each with its own number
			only[0].Mask = nil
		}
		return &only[0], nil
	}
	return nil, nil //nolint:nilnil // one must be made
}

// accountsOf returns the accounts of a connection. It includes accounts that were merged into
// another one that still exists.
func (s *Statements) accountsOf(ctx context.Context, q pg.Querier, connection id.ID) ([]fileAccount, error) {
	rows, err := pg.All[fileAccount](ctx, q, `
		select id, short_id, name, display_name, type, mask, currency from account
			where connection_id = $1 and (deleted_at is null or merged_into is not null) order by id`, connection)
	if err != nil {
		return nil, err
	}
	ids := make([]id.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	merged, err := s.accounts.Surviving(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		rows[i].Into = r.ID
		if into, ok := merged[r.ID]; ok {
			rows[i].Into = into
		}
		ids[i] = rows[i].Into
	}
	there, err := pg.Values[id.ID](ctx, q, `select id from account where id = any($1) and deleted_at is null`, ids)
	return slices.DeleteFunc(rows, func(r fileAccount) bool { return !slices.Contains(there, r.Into) }), err
}

// ofFile returns an error if the file is from another account: if both numbers are known, they must
// end in the same digits.
func (a fileAccount) ofFile(p statement.File) error {
	file := statement.Mask(p.AccountNumber.Plain())
	if a.Mask == nil || *a.Mask == "" || file == "" || strings.EqualFold(*a.Mask, file) {
		return nil
	}
	return errs.Field("account_id", "required", "is required: the file is from an account ending in %s, and the "+
		"connection's only account ends in %s; give account_id to import the file into that account, or account with "+
		"a name to create another one", file, *a.Mask)
}

// distinct keeps one of several rows that lead to the same account, preferably the account itself.
func distinct(rows []fileAccount) []fileAccount {
	var out []fileAccount
	for _, r := range rows {
		switch i := slices.IndexFunc(out, func(o fileAccount) bool { return o.Into == r.Into }); {
		case i < 0:
			out = append(out, r)
		case r.ID == r.Into:
			out[i] = r
		}
	}
	return out
}

// ofName returns the only account with the wanted name, type and currency. An account with that
// name but another type or currency is an error. It is not used, and no second account is created
// beside it: the same file could then be in the books twice.
func ofName(rows []fileAccount, want *FileAccount) (*fileAccount, error) {
	var fit, others []fileAccount
	for _, r := range rows {
		switch {
		case !r.called(want.Name):
		case r.fits(want):
			fit = append(fit, r)
		default:
			others = append(others, r)
		}
	}
	switch fit = distinct(fit); {
	case len(fit) == 1:
		return &fit[0], nil
	case len(fit) > 1:
		return nil, taken(fit, "the connection has %d accounts with this name (%s); pass account_id instead "+
			"of account")
	case len(others) > 0:
		return nil, taken(others,
			"the connection has %d account with this name but another type or currency (%s); pass its "+
				"account_id, or choose another name")
	}
	return nil, nil //nolint:nilnil // one must be made
}

// taken returns a conflict error that names the accounts.
func taken(rows []fileAccount, format string) error {
	var names []string
	var details []errs.Detail
	for _, r := range rows {
		names = append(names, fmt.Sprintf("%s: %s, %s", r.ShortID, r.Type, r.Currency))
		details = append(details, errs.Detail{
			Field: "account", Code: "conflict",
			Message: fmt.Sprintf("account %s is %s in %s", r.ID, r.Type, r.Currency),
		})
	}
	return &errs.Error{
		Code: errs.Conflict, Message: fmt.Sprintf(format, len(rows), strings.Join(names, "; ")),
		Details: details,
	}
}

// nameAccount returns the account to create for a file. Its name is the caller's, or else made of
// the bank and the last digits of the number, or else the file's name.
func nameAccount(c connection.Connection, in ImportFile, p portion) *newAccount {
	f := p.file()
	a := newAccount{
		FileAccount: FileAccount{Type: cmp.Or(p.Type, bank.Depository), Currency: f.DefaultCurrency},
		Mask:        cmp.Or(p.Mask(), statement.Mask(f.AccountNumber.Plain())), Subtype: p.Subtype,
	}
	if options := in.Options; f.Currency != "" && (options == nil || options.DefaultCurrency == nil) &&
		in.DefaultCurrency == nil {
		a.Currency = f.Currency
	}
	if w := in.Account; w != nil {
		a.Name, a.Named = w.Name, true
		if w.Type != "" {
			a.Type = w.Type
		}
		if w.Currency != "" {
			a.Currency = w.Currency
		}
		return &a
	}
	bank := f.Bank
	if c.InstitutionName != nil && c.InstitutionName.Plain() != "" {
		bank = c.InstitutionName.Plain()
	}
	switch {
	case bank != "" && a.Mask != "":
		a.Name = bank + " " + a.Mask
	case bank != "":
		a.Name = bank
	case a.Mask != "":
		a.Name = "Account " + a.Mask
	case in.FileName != nil:
		base := baseName(*in.FileName)
		a.Name = strings.TrimSuffix(base, path.Ext(base))
	}
	if a.Name = text.Name(a.Name).Plain(); a.Name == "" {
		a.Name = "Imported"
	}
	return &a
}

// baseName returns a file's name without the folders that some clients send with it.
func baseName(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// openAccount returns the account that a file goes into. If it creates or restores the account, it
// also returns the journal entries with which a revert of the import removes the account again.
// Until the import ends, nobody else adds rows to the account.
//
// under is the account that the file is for. It may have been merged into the account that is
// returned.
func (s *Statements) openAccount(ctx context.Context, tx pg.Tx, connection id.ID, t target, out *ImportedAccount) (
	account, under id.ID, entries []journal.Entry, err error,
) {
	under, entries, err = s.findOrMake(ctx, tx, connection, t)
	if err != nil {
		return account, under, nil, err
	}
	if account, err = s.accounts.SurvivingOne(ctx, tx, under); err != nil {
		return account, under, nil, err
	}
	out.AccountID, out.Reused = account, true
	if entries != nil {
		out.Reused = false
		return account, under, entries, nil
	}
	if _, err := pg.Exec(ctx, tx, `select from account where id = $1 for no key update`, account); err != nil {
		return account, under, nil, err
	}
	// A revert of an earlier import may have removed the account; it is restored.
	entries, err = s.accounts.Revive(ctx, tx, []id.ID{account})
	return account, under, entries, err
}

// findOrMake returns the account, and journal entries if it created the account.
func (s *Statements) findOrMake(ctx context.Context, tx pg.Tx, connection id.ID, t target) (id.ID, []journal.Entry,
	error,
) {
	if t.Account != nil {
		return *t.Account, nil, nil
	}
	var want *FileAccount
	if t.New.Named {
		want = &t.New.FileAccount
	}
	there, err := s.chooseAccount(ctx, tx, connection, nil, want)
	if err != nil {
		return id.ID{}, nil, job.Final(err)
	}
	if there != nil { // another import has created the account meanwhile
		return there.ID, nil, nil
	}
	gone, err := pg.Values[id.ID](ctx, tx, `
		select a.id from account a
		where a.connection_id = $1 and a.deleted_at is not null and a.merged_into is null and lower(a.name) = lower($2)
			and a.type = $3 and a.currency = $4
			and not exists (select from transaction t where t.account_id = a.id and t.deleted_source is distinct
				from 'provider')
		order by a.deleted_at desc limit 1`, connection, t.New.Name, t.New.Type, t.New.Currency)
	if err != nil || len(gone) > 0 {
		return append(gone, id.ID{})[0], nil, err
	}
	made, err := s.accounts.AddAccounts(ctx, tx, []account.Incoming{{
		ConnectionID: &connection, Provider: bank.CSV, ProviderID: id.Base62(12), Name: text.Name(t.New.Name),
		Type: t.New.Type, Subtype: t.New.Subtype, Mask: t.New.Mask, Currency: t.New.Currency, OwnerID: t.New.Owner,
		InstitutionName: t.New.Institution,
	}})
	if err != nil {
		return id.ID{}, nil, err
	}
	entries, err := s.accounts.Made(ctx, tx, made)
	return made[0], entries, err
}

package qif

import (
	"context"
	"io"
	"iter"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A holder is the account to which the following records belong.
type holder struct {
	name, section string
	stated        bool
}

func (p *plan) items(ctx context.Context, file io.ReaderAt) iter.Seq2[reading.Item, error] {
	return reading.Stream(func(emit func(reading.Item) error) error {
		var h holder
		for r, err := range records(ctx, file, p.encoding) {
			switch {
			case err != nil:
				return err
			case r.section == account && !r.listed:
				h = holder{name: r.fields['N']}
				continue
			case !sections[r.section]:
				continue
			}
			if err := p.record(r, &h, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *plan) record(r *record, h *holder, emit func(reading.Item) error) error {
	category, _, transfer := sides(r.fields['L'])
	opens := transfer != "" && strings.EqualFold(r.fields['P'], "opening balance")
	if r.section != h.section {
		h.section, h.stated = r.section, false
	}
	if opens && h.name == "" {
		h.name, h.stated = transfer, false // the account's name, in a file of one account
	}
	if !h.stated {
		h.stated = true
		if err := emit(reading.Item{Account: p.account(h)}); err != nil {
			return err
		}
	}
	if r.section == "invst" {
		return emit(reading.Skip("security_trade", "a trade of securities; only movements of cash are imported"))
	}
	row, left := p.row(r, category, transfer)
	if left != nil {
		return emit(*left)
	}
	if opens && transfer == h.name {
		opening := statement.Point{
			Kind: statement.Opening, Day: row.Date, Amount: row.Amount.Neg(), Morning: true,
		}
		if err := emit(reading.Item{Point: &opening}); err != nil {
			return err
		}
		return emit(reading.Skip("opening_balance", "a balance, not a transaction"))
	}
	return emit(reading.Item{Row: row})
}

// kinds maps the account types of sections.
var kinds = map[string][2]string{
	"bank": {"depository", ""}, "cash": {"depository", "cash"}, "ccard": {"credit", ""}, "oth a": {"other", ""},
	"oth l": {"loan", ""}, "invst": {"investment", ""},
}

func (p *plan) account(h *holder) *statement.Account {
	a := &statement.Account{
		Key: text.Name(h.name), Name: text.Name(h.name), Currency: p.currency,
		Type: kinds[h.section][0], Subtype: kinds[h.section][1],
	}
	if a.Key == "" {
		a.Key = text.Name(h.section)
	}
	return a
}

func (p *plan) amount(s string) (money.Amount, error) {
	f, ok := reading.ParseFigure(s)
	if !ok || f.Direction != reading.Unknown {
		return money.Amount{}, reading.ErrNotNumber
	}
	return f.Value(p.decimal)
}

func (p *plan) row(r *record, category, transfer string) (row statement.Row, left *reading.Item) {
	reject := func(code, message string) (statement.Row, *reading.Item) {
		item := reading.Reject(code, message)
		return row, &item
	}
	d, ok := parse(r.fields['D'])
	if ok {
		row.Date, ok = d.in(p.order, p.quicken)
	}
	if !ok {
		return reject("date", "the date doesn't match the date format of the other rows")
	}
	amount, err := p.amount(r.amount())
	if err != nil {
		return reject("amount", err.Error())
	}
	row.Amount, row.Currency, row.Assumed = amount.Neg(), p.currency, true
	payee, memo := r.fields['P'], r.fields['M']
	if payee == "" {
		payee, memo = memo, ""
	}
	row.Name = text.Name(payee)
	row.Detail = text.Detail(memo, row.Name)
	_, class, _ := sides(r.fields['L'])
	extra := statement.Extra{Transfer: text.Name(transfer), Tags: tags(class), Parts: p.parts(r, row.Amount)}
	switch len(extra.Parts) {
	case 0:
		row.Category = text.Name(category)
	case 1:
		one := extra.Parts[0]
		row.Category, extra.Transfer, extra.Tags, extra.Parts = one.Category, one.Transfer, one.Tags, nil
	default:
		extra.Transfer, extra.Tags = "", nil
	}
	if n := r.fields['N']; n != "" && strings.Trim(n, "0123456789") == "" {
		extra.Check = text.Name(n)
	}
	if extra.Transfer != "" || extra.Tags != nil || extra.Parts != nil || extra.Check != "" {
		row.Extra = &extra
	}
	return row, nil
}

// parts returns the parts of a split row, without blank ones, if they add up to the row's amount.
func (p *plan) parts(r *record, whole money.Amount) []statement.Part {
	var out []statement.Part
	var sum money.Total
	for _, s := range r.parts {
		amount, err := p.amount(s.amount)
		switch {
		case err != nil && s.amount == "" && s.category == "", err == nil && amount.IsZero() && s.category == "":
			continue
		case err != nil:
			return nil
		}
		amount = amount.Neg()
		if sum, err = sum.Add(amount.Total()); err != nil {
			return nil
		}
		category, class, transfer := sides(s.category)
		out = append(out, statement.Part{
			Amount: amount, Category: text.Name(category), Transfer: text.Name(transfer), Tags: tags(class),
			Detail: text.Line(s.memo, text.DetailMax),
		})
	}
	if !sum.Equal(whole.Total()) {
		return nil
	}
	return out
}

// sides splits a category: Food:Groceries/Shared has a class, and [Visa] is an account.
func sides(s string) (category, class, transfer string) {
	if name, ok := strings.CutPrefix(s, "["); ok {
		name, class, _ = strings.Cut(name, "]")
		return "", strings.TrimPrefix(class, "/"), name
	}
	s, class, _ = strings.Cut(s, "/")
	if s == "--Split--" {
		s = ""
	}
	return s, class, ""
}

func tags(class string) []text.Untrusted {
	if name := text.Name(class); name != "" {
		return []text.Untrusted{name}
	}
	return nil
}

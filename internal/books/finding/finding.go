package finding

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/account"
	"coffer/internal/books/payeename"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// The household's decision about a finding.
const (
	open      = "open"
	confirmed = "confirmed"
	dismissed = "dismissed"
)

const (
	findingDays     = 90  // how many days a list goes back by default
	findingMostDays = 400 // how many days it can go back
)

// A Finding is something in the books that a person should look at. Findings are computed for each
// request; only the household's decisions about them are stored.
type Finding struct {
	ID             id.ID           `json:"id" doc:"Follows from what the finding is about, so it stays the same"`
	ShortID        string          `json:"short_id,omitempty" required:"true"`
	Kind           FindingKind     `json:"kind"`
	Reason         FindingReason   `json:"reason" doc:"Why it is a finding. A new amount of money in went_up or went_down; any other is price_increased or price_decreased"`
	Date           pg.Date         `json:"date" doc:"Date of its newest transaction; for a missed payment, the due date; for a gap, its last day"`
	AccountID      id.ID           `json:"account_id"`
	PayeeName      *text.Untrusted `json:"payee_name" doc:"Untrusted: the counterparty's name, else the name in the bank's text; null for a gap"`
	Currency       money.Currency  `json:"iso_currency_code"`
	Amount         money.Total     `json:"amount" doc:"Amount of the newest transaction, the new price, the missed payment, or the difference of a gap; positive is money out"`
	TransactionIDs []id.ID         `json:"transaction_ids" doc:"Newest first; for a refund, the refund and its purchase; for a gap, possible explanations"`
	RecurringID    *id.ID          `json:"recurring_id" doc:"For a price change or a missed payment"`
	Usual          *money.Total    `json:"usual" doc:"Usual maximum for this payee, the previous price, or the price of the refunded purchase; null if there is none"`
	State          string          `json:"state" enum:"open,confirmed,dismissed"`
}

// ListFindings is the input of Findings.
type ListFindings struct {
	Kind      []FindingKind `json:"kind,omitempty" maxItems:"20" doc:"All kinds if absent"`
	StartDate *pg.Date      `json:"start_date,omitempty" doc:"Start date (inclusive); 90 days ago if absent, at most 400"`
	State     string        `json:"state,omitempty" enum:"open,confirmed,dismissed" default:"open"`
	AccountID *string       `json:"account_id,omitempty" minLength:"1" doc:"Short id or UUID"`
	Cursor    string        `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters"`
	Limit     int           `json:"limit,omitempty" minimum:"1" maximum:"500" default:"100" doc:"Findings per page"`
}

// FindingList is a page of findings, newest first.
type FindingList struct { //nolint:revive // the name of the shape in the contract
	Findings   []Finding `json:"findings"`
	Total      int       `json:"total" doc:"On all pages together"`
	NextCursor string    `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool      `json:"has_more"`
	Notes      []op.Note `json:"notes" doc:"Caveats about these findings"`
}

// Findings returns a page of findings.
func (d *Desk) Findings(ctx context.Context, q pg.Querier, in ListFindings) (FindingList, error) {
	out := FindingList{Findings: []Finding{}, Notes: []op.Note{}}
	filter := in
	filter.Cursor, filter.Limit = "", 0
	pager, err := d.db.Pager(ctx, "finding", filter)
	if err != nil {
		return out, err
	}
	var at []string
	if in.Cursor != "" {
		if at, err = pager.Decode(in.Cursor, 2); err != nil {
			return out, err
		}
	}
	all, err := d.found(ctx, q, in)
	if err != nil {
		return out, err
	}
	out.Total = len(all)
	if at != nil {
		all = slices.DeleteFunc(all, func(f Finding) bool { return slices.Compare(f.place(), at) <= 0 })
	}
	if len(all) > in.Limit {
		all, out.HasMore = all[:in.Limit], true
		if out.NextCursor, err = pager.Encode(all[in.Limit-1].place()...); err != nil {
			return out, err
		}
	}
	out.Findings = append(out.Findings, all...)
	if err := named(ctx, q, out.Findings); err != nil {
		return out, err
	}
	out.Notes, err = proposed(ctx, q)
	return out, err
}

// proposed returns a note if account links wait for a decision. Until then, a card that two
// connections report looks like double charges.
func proposed(ctx context.Context, q pg.Querier) ([]op.Note, error) {
	n, err := pg.Value[int64](ctx, q, `select count(*) from account_link l where `+account.ProposedLink)
	if err != nil || n == 0 {
		return []op.Note{}, err
	}
	return []op.Note{{
		Code: "links_proposed", Count: &n, See: op.See(ctx, "account-link.list"),
		Message: "suggested account links need review; until then, findings may include transfers",
	}}, nil
}

// place returns the position of a finding in lists: newest first. The texts sort like their values.
func (f *Finding) place() []string {
	return []string{fmt.Sprintf("%08d", 1<<24-f.Date.Time().Unix()/86400), f.ID.String()}
}

// found returns all findings that a filter selects, sorted, without the payees' names. There are at
// most a few thousand.
func (d *Desk) found(ctx context.Context, q pg.Querier, in ListFindings) ([]Finding, error) {
	accountID, err := d.accountOf(ctx, q, in.AccountID)
	if err != nil {
		return nil, err
	}
	today, err := pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date from setting`)
	if err != nil {
		return nil, err
	}
	from := pg.Day(today.Time().AddDate(0, 0, -findingDays))
	if in.StartDate != nil {
		if from = *in.StartDate; dayOf(today.Time())-dayOf(from.Time()) > findingMostDays {
			return nil, errs.Field("start_date", "range", "must not be more than %d days ago", findingMostDays)
		}
	}
	if len(in.Kind) == 0 {
		in.Kind = findingKinds
	}
	all, err := d.inCharges(ctx, q, from, accountID, in.Kind)
	if err != nil {
		return nil, err
	}
	of, err := d.inSeries(ctx, q, from, in)
	if err != nil {
		return nil, err
	}
	all = append(all, of...)
	if slices.Contains(in.Kind, gap) {
		gaps, err := d.gaps(ctx, q, from, accountID)
		if err != nil {
			return nil, err
		}
		all = append(all, gaps...)
	}
	return decided(ctx, q, all, in.State)
}

// decided returns only findings in that state, sorted.
func decided(ctx context.Context, q pg.Querier, all []Finding, state string) ([]Finding, error) {
	type row struct {
		ID    id.ID  `db:"id"`
		State string `db:"state"`
	}
	rows, err := pg.All[row](ctx, q, `select id, state from finding where state <> 'open' and deleted_at is null`)
	if err != nil {
		return nil, err
	}
	states := map[id.ID]string{}
	for _, r := range rows {
		states[r.ID] = r.State
	}
	all = slices.DeleteFunc(all, func(f Finding) bool { return cmp.Or(states[f.ID], open) != state })
	for i := range all {
		all[i].State, all[i].ShortID = state, all[i].ID.Short()
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(b.Date.Time().Compare(a.Date.Time()), a.ID.Compare(b.ID))
	})
	return all, nil
}

// identify returns the id of a finding: a UUID made from a digest of its kind and the ids that it
// is about.
func identify(kind FindingKind, about ...string) id.ID {
	sum := sha256.Sum256([]byte(string(kind) + " " + strings.Join(about, " ")))
	u := id.ID(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return u
}

// accountOf returns the account that a filter names, or nil.
func (d *Desk) accountOf(ctx context.Context, q pg.Querier, ref *string) (*id.ID, error) {
	if ref == nil {
		return nil, nil
	}
	one, err := pg.Value[id.ID](ctx, q, `select id from account where id = $1 or short_id = $2`,
		pg.RefTo(*ref).IDArgs()...)
	return &one, pg.Named(err, "account_id", "account", "{account.list} lists them")
}

// inSeries returns the price changes and missed payments of recurring payments.
func (d *Desk) inSeries(ctx context.Context, q pg.Querier, from pg.Date, in ListFindings) ([]Finding, error) {
	if !slices.Contains(in.Kind, priceChange) && !slices.Contains(in.Kind, missed) {
		return nil, nil
	}
	all, err := recurring.Matching(ctx, q, recurring.ListRecurring{AccountID: in.AccountID})
	if err != nil {
		return nil, err
	}
	lasts, err := lastOf(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, r := range recurring.WithoutTransfers(all) {
		one := Finding{
			AccountID: r.AccountID, PayeeName: &r.PayeeName, Currency: r.Currency, RecurringID: &r.ID,
			TransactionIDs: []id.ID{},
		}
		if r.Name != nil {
			one.PayeeName = new(text.Line(*r.Name, 200))
		}
		if last, ok := lasts[r.ID]; ok {
			one.TransactionIDs = append(one.TransactionIDs, last)
		}
		if slices.Contains(in.Kind, missed) && r.Status == recurring.Late && !r.NextDate.Time().Before(from.Time()) {
			f := one
			f.Kind, f.Reason, f.Date, f.Amount = missed, overdue, *r.NextDate, r.Amount.Total()
			f.ID = identify(missed, r.ID.String(), r.NextDate.String())
			out = append(out, f)
		}
		for _, c := range r.PriceChanges {
			if !slices.Contains(in.Kind, priceChange) || c.Date.Time().Before(from.Time()) {
				break
			}
			f := one
			f.Kind, f.Reason, f.Date = priceChange, reasonOf(c, r.Direction), c.Date
			f.Amount, f.Usual = c.After.Total(), new(c.Before.Total())
			f.ID = identify(priceChange, r.ID.String(), c.Date.String())
			out = append(out, f)
		}
	}
	return out, nil
}

// reasonOf returns the reason of a price change. For money out it is a price increase or decrease;
// for money in the amount went up or down.
func reasonOf(c recurring.PriceChange, direction string) FindingReason {
	switch rose := c.Percent >= 0; {
	case direction == "in" && rose:
		return wentUp
	case direction == "in":
		return wentDown
	case rose:
		return increased
	}
	return decreased
}

// lastOf returns the newest transaction of each series.
func lastOf(ctx context.Context, q pg.Querier) (map[id.ID]id.ID, error) {
	type row struct {
		ID   id.ID `db:"id"`
		Last id.ID `db:"last_id"`
	}
	rows, err := pg.All[row](ctx, q, `select id, last_id from recurring where deleted_at is null and last_id is not null`)
	out := make(map[id.ID]id.ID, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Last
	}
	return out, err
}

// gaps returns findings for intervals in which the books of accounts do not add up.
func (d *Desk) gaps(ctx context.Context, q pg.Querier, from pg.Date, accountID *id.ID) ([]Finding, error) {
	var of []id.ID
	if accountID != nil {
		of = []id.ID{*accountID}
	}
	verdicts, err := d.accounts.Verdicts(ctx, q, of)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, v := range verdicts {
		if !v.GapSince(from) {
			continue
		}
		proof, err := d.accounts.Proof(ctx, q, account.ProveAccount{ID: v.AccountID.String(), StartDate: &from})
		if err != nil {
			return nil, err
		}
		for _, i := range proof.Intervals {
			if i.Status != string(gap) || i.To.Time().Before(from.Time()) {
				continue
			}
			f := Finding{
				ID:   identify(gap, v.AccountID.String(), i.From.String(), i.To.String(), i.Difference.String()),
				Kind: gap, Reason: tooMuch, Date: i.To, AccountID: v.AccountID, Currency: proof.Currency,
				Amount: *i.Difference, TransactionIDs: []id.ID{},
			}
			if i.Difference.IsNeg() {
				f.Reason = tooLittle
			}
			for _, c := range i.Candidates {
				if c.TransactionID != nil {
					f.TransactionIDs = append(f.TransactionIDs, *c.TransactionID)
				}
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// named fills in the payees of findings that are about transactions.
func named(ctx context.Context, q pg.Querier, list []Finding) error {
	var ids []id.ID
	for _, f := range list {
		if f.PayeeName == nil && f.Kind != gap {
			ids = append(ids, f.TransactionIDs[0])
		}
	}
	type row struct {
		ID      id.ID           `db:"id"`
		Named   *text.Untrusted `db:"counterparty_name"`
		Wording text.Untrusted  `db:"wording"`
	}
	rows, err := pg.All[row](ctx, q, `
		select t.id, p.name as counterparty_name, coalesce(nullif(d.merchant_name, ''), d.name) as wording
		from transaction t join descriptor d on d.id = t.descriptor_id left join counterparty p on p.id = t.counterparty_id
		where t.id = any($1)`, ids)
	of := map[id.ID]text.Untrusted{}
	for _, r := range rows {
		of[r.ID] = payeename.Shown(r.Named, nil, r.Wording)
	}
	for i, f := range list {
		if f.PayeeName == nil && f.Kind != gap {
			list[i].PayeeName = new(of[f.TransactionIDs[0]])
		}
	}
	return err
}

package banks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

const (
	institution = "ins_109508"
	maxCount    = 500
)

func (p *Plaid) itemGet(in request) (any, error) {
	p.mu.Lock()
	it := p.items[in.AccessToken]
	p.mu.Unlock()
	if it == nil {
		return nil, coded("INVALID_ACCESS_TOKEN")
	}
	it.book.mu.Lock()
	defer it.book.mu.Unlock()
	return map[string]any{"item": it.show(), "status": map[string]any{}, "request_id": "item"}, nil
}

func (it *item) show() map[string]any {
	var trouble any
	if it.book.trouble != "" {
		e := coded(it.book.trouble)
		trouble = map[string]any{
			"error_type": e.kind, "error_code": e.code, "error_message": "prose",
			"display_message": nil, "status": e.status,
		}
	}
	return map[string]any{
		"item_id": it.book.id, "institution_id": institution, "institution_name": it.book.bank, "webhook": it.webhook,
		"error":    trouble,
		"products": []string{"transactions"}, "update_type": "background",
	}
}

// itemRemove also works on a broken item.
func (p *Plaid) itemRemove(in request) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	it := p.items[in.AccessToken]
	if it == nil {
		return nil, coded("INVALID_ACCESS_TOKEN")
	}
	if it.removed {
		return nil, coded("ITEM_NOT_FOUND")
	}
	it.removed = true
	return map[string]any{"request_id": "remove"}, nil
}

func (p *Plaid) accountsGet(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	defer done()
	out := []any{}
	for _, a := range it.book.accounts {
		if len(in.Options.AccountIDs) == 0 || slices.Contains(in.Options.AccountIDs, a.ID) {
			out = append(out, plaidAccount(a))
		}
	}
	return map[string]any{"accounts": out, "item": it.show(), "request_id": "accounts"}, nil
}

func plaidAccount(a Account) map[string]any {
	return map[string]any{
		"account_id": a.ID, "name": a.Name, "official_name": orNull(a.OfficialName), "type": a.Type,
		"subtype": a.Subtype, "mask": orNull(a.Mask),
		"balances": map[string]any{
			"current": number(a.Current), "available": number(a.Available), "limit": number(a.Limit),
			"iso_currency_code": a.Currency, "unofficial_currency_code": nil,
		},
	}
}

// number prints an amount as Plaid does: a JSON number, without zeros at its end.
func number(a *money.Amount) any {
	if a == nil {
		return nil
	}
	return json.RawMessage(strings.TrimSuffix(strings.TrimRight(a.String(), "0"), "."))
}

func orNull[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// A paging is a walk over one delta. It is valid as long as the item does not change.
type paging struct {
	from, to int
	deltas   []delta
}

// sync returns pages of changes since a cursor. The cursor is item|from between two walks, and
// item|from|to|offset within a walk.
func (p *Plaid) sync(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	defer done()
	count := 100
	if in.Count != nil {
		count = *in.Count
	}
	if count < 1 || count > maxCount {
		return nil, coded("INVALID_FIELD")
	}
	it.synced = true
	b := it.book
	var from, offset int
	to := b.seq
	if in.Cursor != "" {
		if from, to, offset, err = b.locate(in.Cursor); err != nil {
			return nil, err
		}
		if to != b.seq {
			return nil, coded("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION")
		}
	}
	if it.page.deltas == nil || it.page.from != from || it.page.to != to {
		it.page = paging{from, to, b.since(from)}
	}
	out := map[string]any{
		"added": []any{}, "modified": []any{}, "removed": []any{}, "request_id": "sync",
		"transactions_update_status": b.phase(),
	}
	end := min(offset+count, len(it.page.deltas))
	accounts := make(map[string]bool)
	for _, d := range it.page.deltas[min(offset, end):end] {
		accounts[d.row.AccountID] = true
		row := plaidRow(d.row, in.Options.Original)
		if d.kind == "removed" {
			row = map[string]any{"transaction_id": d.row.ID, "account_id": d.row.AccountID}
		}
		out[d.kind] = append(out[d.kind].([]any), row) //nolint:forcetypeassert // made above
	}
	shown := []any{}
	for _, a := range b.accounts {
		if accounts[a.ID] {
			shown = append(shown, plaidAccount(a))
		}
	}
	out["accounts"], out["has_more"] = shown, end < len(it.page.deltas)
	switch {
	case end < len(it.page.deltas):
		out["next_cursor"] = b.cursor(from, to, end)
	case b.phase() == "NOT_READY":
		out["next_cursor"] = ""
	default:
		out["next_cursor"] = b.cursor(to, to, 0)
	}
	return out, nil
}

func (b *Book) phase() string {
	switch {
	case len(b.later) > 0 && len(b.rows) == 0:
		return "NOT_READY"
	case len(b.later) > 0:
		return "INITIAL_UPDATE_COMPLETE"
	}
	return "HISTORICAL_UPDATE_COMPLETE"
}

func (b *Book) cursor(from, to, offset int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s|%d|%d|%d", b.id, from, to, offset))
}

// locate reads a cursor of this item. Between two walks, the end is the item's current state.
func (b *Book) locate(cursor string) (from, to, offset int, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	id, rest, _ := strings.Cut(string(raw), "|")
	if err != nil || id != b.id {
		return 0, 0, 0, coded("INVALID_FIELD")
	}
	if _, err := fmt.Sscanf(rest, "%d|%d|%d", &from, &to, &offset); err != nil {
		return 0, 0, 0, coded("INVALID_FIELD")
	}
	if offset == 0 {
		to = b.seq
	}
	return from, to, offset, nil
}

// plaidRow returns the row in Plaid's form. It contains the bank's own text only on request.
func plaidRow(r Row, asked bool) any {
	if r.Raw != nil {
		return r.Raw
	}
	var category any
	if r.Primary != "" {
		category = map[string]any{
			"primary": r.Primary, "detailed": r.Detailed, "confidence_level": "HIGH",
			"version": "v2",
		}
	}
	var original any
	if asked && r.Detail != "" {
		original = r.Detail
	}
	return map[string]any{
		"original_description": original,
		"transaction_id":       r.ID, "account_id": r.AccountID, "pending_transaction_id": orNull(r.PendingID),
		"pending": r.Pending,
		"amount":  number(&r.Amount), "iso_currency_code": r.Currency, "unofficial_currency_code": nil,
		"date": r.Date.Format(time.DateOnly), "authorized_date": dayOrNull(r.Authorized),
		"datetime": timeOrNull(r.Time), "authorized_datetime": nil,
		"name": r.Name, "merchant_name": orNull(r.Merchant), "payment_channel": r.Channel,
		"personal_finance_category": category,
		"account_owner":             nil, "check_number": nil, "counterparties": []any{}, "transaction_code": nil,
		"transaction_type": "place",
		"location":         map[string]any{"city": nil, "lat": nil, "lon": nil},
		"payment_meta":     map[string]any{"payee": nil},
	}
}

func dayOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.DateOnly)
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// refresh posts the pending rows.
func (p *Plaid) refresh(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	done()
	for _, r := range it.book.Pending() {
		it.book.Post(r.ID, nil)
	}
	return map[string]any{"request_id": "refresh"}, nil
}

func (p *Plaid) sandboxCreate(in request) (any, error) {
	if in.InstitutionID == "" {
		return nil, coded("MISSING_FIELDS")
	}
	name, _ := p.NewItem(in.Options.Webhook)
	return map[string]any{"public_token": name, "request_id": "create"}, nil
}

func (p *Plaid) sandboxReset(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	done()
	it.book.Break("ITEM_LOGIN_REQUIRED")
	return map[string]any{"reset_login": true, "request_id": "reset"}, nil
}

func (p *Plaid) sandboxFire(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	id := it.book.id
	done()
	kind := in.WebhookType
	if kind == "" {
		kind = "TRANSACTIONS"
	}
	go func() { _ = p.Fire(context.Background(), id, kind, in.WebhookCode, nil) }()
	return map[string]any{"webhook_fired": true, "request_id": "fire"}, nil
}

type sandboxRow struct {
	Date        string      `json:"date_posted"`
	Amount      json.Number `json:"amount"`
	Description string      `json:"description"`
}

func (p *Plaid) sandboxTransactions(in request) (any, error) {
	it, done, err := p.find(in)
	if err != nil {
		return nil, err
	}
	done()
	for _, r := range in.Rows {
		day, err := time.Parse(time.DateOnly, r.Date)
		amount, wrong := money.Parse(r.Amount.String())
		if err != nil || wrong != nil || len(in.Rows) > 10 {
			return nil, coded("INVALID_FIELD")
		}
		it.book.Add(Row{
			AccountID: it.book.Accounts()[0].ID, Date: day, Amount: amount, Name: text.Name(r.Description),
			Channel: "other",
		})
	}
	return map[string]any{"request_id": "rows"}, nil
}

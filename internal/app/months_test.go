package app_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/books/accountlink"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// mostCompared is the largest result, in bytes, of a tool that compares three months.
const mostCompared = 8_000

// TestThreeMonthsInOneCall: an agent compares three months in one call with a small result. While
// account links wait for a decision, the result says so before any figure. After they are
// confirmed, it does not mention them, and the figures equal the sums over the rows.
func TestThreeMonthsInOneCall(t *testing.T) {
	t.Parallel()
	b := &formBook{toolWorld: newToolWorld(t, nil, func(*app.Config) {})}
	b.ops = b.Ops()
	var err error
	if b.handler, err = b.Rest().Handler(); err != nil {
		t.Fatal(err)
	}
	end := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	made := household.New(household.Options{Seed: 3, Transactions: 3_000, Years: 2, End: end})
	if err := b.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	summary := b.toolNamed(t, "transaction_summary")
	months := map[string]any{"start_date": "2026-04-01", "end_date": "2026-06-30"}
	calls := map[string]map[string]any{
		"a table by month":     {"group_by": []any{"primary_category", "month"}, "pivot": true},
		"with those before":    {"group_by": []any{"primary_category"}, "compare": "previous_period"},
		"what moved, by payee": {"group_by": []any{"payee"}, "compare": "previous_period", "sort_by": "change", "limit": 15},
	}
	ask := func(name string) string {
		t.Helper()
		args := map[string]any{}
		for _, part := range []map[string]any{months, calls[name]} {
			maps.Copy(args, part)
		}
		a := b.callTool(t, summary, args)
		if a.fault.Code != "" {
			t.Fatalf("%s: %+v", name, a.fault)
		}
		if len(a.block) > mostCompared {
			t.Errorf("%s: the answer has %d bytes, more than %d", name, len(a.block), mostCompared)
		}
		t.Logf("%s: %d bytes", name, len(a.block))
		return a.block
	}
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "Anna", Scope: op.Full})
	sweep := func() {
		t.Helper()
		if err := b.DB.InTx(ctx, func(tx pg.Tx) error { _, err := b.Links.Sweep(ctx, tx); return err }); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for name := range calls {
		answer := ask(name)
		said, figure := strings.Index(answer, `"links_proposed"`), strings.IndexAny(answer, "0123456789")
		if said < 0 || said > figure {
			t.Errorf("%s: the note on links does not stand before the first figure: %.200s", name, answer)
		}
	}
	list, err := b.Links.List(ctx, b.DB, accountlink.ListLinks{Limit: 50})
	if err != nil || len(list.AccountLinks) == 0 {
		t.Fatalf("no link is proposed: %v", err)
	}
	for _, l := range list.AccountLinks {
		if err := b.DB.InTx(ctx, func(tx pg.Tx) error {
			_, err := b.Links.Put(ctx, tx, accountlink.PutLink{ID: l.ShortID, Confidence: accountlink.Confirmed})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	answer := ask("with those before")
	if strings.Contains(answer, "links_proposed") {
		t.Error("every link is decided, and the answer says that some wait")
	}
	var got struct {
		Totals []struct {
			Currency string      `json:"iso_currency_code"`
			Out      money.Total `json:"money_out"`
		} `json:"totals"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Totals) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, total := range got.Totals {
		if want := b.spent(ctx, t, total.Currency); total.Out != want {
			t.Errorf("%s: spent %s, and %s by the rows", total.Currency, total.Out, want)
		}
	}
}

// spent returns the sum of the second quarter's payments, without those that links or categories
// exclude.
func (b *formBook) spent(ctx context.Context, t *testing.T, currency string) money.Total {
	t.Helper()
	out, err := pg.Value[money.Total](ctx, b.DB, `
		select coalesce(sum(t.amount), 0) from transaction t join account a on a.id = t.account_id
			left join category c on c.id = t.category_id left join category p on p.id = c.parent_id
		where t.amount > 0 and t.currency = $1 and t.date between '2026-04-01' and '2026-06-30' and t.deleted_at is null
			and not t.excluded and not t.transfer and not a.hidden
			and coalesce(p.kind, c.kind, '') <> 'transfer'`, currency)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

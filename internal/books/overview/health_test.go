package overview

import (
	"fmt"
	"slices"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A bank's days are covered up to the last sync. Files cover only the days that they contain, and
// the days between files are missing.
func TestCovered(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into descriptor (name, merchant_name, folded) values ('Shop', '', e'shop\n')`)
	exec(`update setting set time_zone = 'UTC'`)
	for provider, days := range map[string][]int{"teller": {400, 80, 5}, "csv": {400, 88, 85, 80, 40, 35, 2}} {
		connection, account := id.New(), id.New()
		exec(`insert into connection (id, short_id, member_id, provider, created_at, last_sync_at)
			select $1, $2, id, $3, now() - interval '500 days', now() - interval '4 days' from member`, connection,
			connection.Short(), provider)
		exec(`insert into account (id, short_id, connection_id, provider, provider_id, name, type, currency)
			values ($1, $2, $3, $4, $4, 'Everyday', 'depository', 'EUR')`, account, account.Short(), connection, provider)
		exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
			select gen_random_uuid(), $3 || n, $1, n, (now() at time zone 'UTC')::date - n, 1, 'EUR', d.id
			from unnest($2::int[]) n, descriptor d`, account, days, provider)
	}
	h, err := New(analytics.New(ledger.New(db, category.New(ledger.CategoryUser{})), account.New(db)), account.New(db)).Health(t.Context(), db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	now := h.CheckedAt.Time()
	got := map[string][]string{}
	for _, c := range h.Connections {
		for _, d := range c.Covered {
			got[string(c.Provider)] = append(got[string(c.Provider)], fmt.Sprint(
				int(pg.Day(now).Time().Sub(d.From.Time()).Hours()/24), " to ",
				int(pg.Day(now).Time().Sub(d.To.Time()).Hours()/24)))
		}
	}
	if !slices.Equal(got["teller"], []string{"89 to 4"}) ||
		!slices.Equal(got["csv"], []string{"88 to 80", "40 to 35", "2 to 2"}) {
		t.Errorf("covered, in days before today: %q", got)
	}
}

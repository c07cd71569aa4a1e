package accountlink

import (
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A sweep ignores accounts that were created while it runs, and does not mix their rows with those
// of others.
func TestSweepLeavesYoungerAccounts(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, s := range []string{
		`insert into account (id, short_id, provider, provider_id, name, type, currency)
			select ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'account' || n, 'csv', n, 'a', 'depository',
			'EUR' from generate_series(1, 3) n`,
		`insert into descriptor (name, merchant_name, folded) values ('x', '', 'x')`,
		`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
			select gen_random_uuid(), a.short_id || n, a.id, n, date '2026-01-01' + n, 10 + n, 'EUR', d.id
				from account a, generate_series(1, 9) n, descriptor d`,
	} {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	s := &scene{window: window{0, 40_000}, numbers: map[id.ID]int{}, matcher: newMatcher()}
	for i, u := range []string{"00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"} {
		s.numbers[id.Must(u)] = i
	}
	if err := db.InTx(t.Context(), func(tx pg.Tx) error { return s.pass(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	if s.matcher.scanned != 18 || s.matcher.rows(0) != 9 || s.matcher.rows(1) != 9 {
		t.Errorf("%d rows seen, %d and %d of the two accounts", s.matcher.scanned, s.matcher.rows(0), s.matcher.rows(1))
	}
}

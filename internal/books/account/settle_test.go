package account

import (
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// Balances over several syncs: a repeated balance only updates its time, an omitted balance keeps
// the last one, and days follow the household's time zone.
func TestSettleBalances(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := New(db)
	connection := id.New()
	exec(t, db, `insert into connection (id, short_id, member_id, provider)
		values ($1, $2, '019a3c5e-4000-7000-8000-000000000001', 'teller')`, connection, connection.Short())
	// A time zone where the date differs from UTC's.
	exec(t, db, `update setting set time_zone = case
		when extract(hour from now() at time zone 'UTC') < 12 then 'Etc/GMT+12' else 'Etc/GMT-14' end`)
	type state struct {
		Current *string `db:"current"`
		Known   bool    `db:"known"`
		Fresh   bool    `db:"fresh"`
		Changed bool    `db:"changed"`
		Days    int     `db:"days"`
		Other   bool    `db:"other"` // the day differs from UTC's
	}
	settle := func(name string, current *money.Amount) state {
		t.Helper()
		exec(t, db, `update account set balance_as_of = balance_as_of - interval '1 day', updated_at = '2020-01-01'`)
		err := db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := r.RefreshAccounts(t.Context(), tx, connection,
				[]Incoming{{
					ConnectionID: &connection, Provider: "teller", ProviderID: "a", Name: text.Name(name),
					Type: "depository", Currency: "EUR", BalanceCurrent: current,
				}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := pg.One[state](t.Context(), db, `
			select balance_current::text as current, balance_as_of is not null as known,
				coalesce(balance_as_of > now() - interval '1 hour', false) as fresh,
				updated_at > '2021-01-01' as changed,
				(select count(*) from account_balance) as days,
					coalesce((select bool_and(day <> (now() at time zone 'UTC')::date) from account_balance),
					false) as other from account`)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	amount := func(s string) *money.Amount { return new(money.MustParse(s)) }
	for i, step := range []struct {
		name    string
		current *money.Amount
		want    string
		state
	}{
		{"Savings", nil, "", state{Changed: true}},
		{"Savings", amount("10.00"), "10.00", state{Known: true, Fresh: true, Changed: true, Days: 1, Other: true}},
		{"Savings", amount("10.00"), "10.00", state{Known: true, Fresh: true, Days: 1, Other: true}},
		{"Savings", nil, "10.00", state{Known: true, Days: 1, Other: true}},
		{"Renamed", nil, "10.00", state{Known: true, Changed: true, Days: 1, Other: true}},
		{"Renamed", amount("11.00"), "11.00", state{Known: true, Fresh: true, Changed: true, Days: 1, Other: true}},
	} {
		got := settle(step.name, step.current)
		current := ""
		if got.Current != nil {
			current = *got.Current
		}
		if got.Current = nil; got != step.state || current != step.want {
			t.Errorf("step %d: %s %+v", i, current, got)
		}
	}
}

// The debt of a loan was higher before a payment than after it. A pending payment is not counted
// yet.
func TestBackfillLoan(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	loan := newAccount(t, db, "loan")
	exec(t, db, `update account set type = 'loan', balance_current = 900`)
	exec(t, db, `insert into descriptor (name, merchant_name, folded) values ('x', '', 'x')`)
	exec(t, db, `insert into transaction (id, short_id, account_id, provider_id, date, amount, currency,
		descriptor_id) select gen_random_uuid(), 't' || n, $1, n, date '2026-01-01' + n, -50, 'EUR', (select id
		from descriptor) from generate_series(1, 2) n`, loan)
	exec(t, db, `insert into transaction (id, short_id, account_id, provider_id, date, amount, currency,
		descriptor_id, pending) select gen_random_uuid(), 'p', $1, 'p', '2026-01-05', -7, 'EUR', (select id
		from descriptor), true`, loan)
	if err := db.InTx(t.Context(), func(tx pg.Tx) error {
		return New(db).BackfillBalances(t.Context(),
			tx)
	}); err != nil {
		t.Fatal(err)
	}
	if days, err := pg.Values[string](t.Context(), db, `select current::text from account_balance
		order by day`); err != nil || len(days) != 2 || days[0] != "950.00" || days[1] != "900.00" {
		t.Errorf("%v %v", days, err)
	}
	if p, err := New(db).Proof(t.Context(), db, ProveAccount{ID: loan.Short()}); err != nil || p.Status != proved {
		t.Errorf("the books do not add up: %+v, %v", p, err)
	}
}

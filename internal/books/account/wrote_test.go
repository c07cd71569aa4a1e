package account

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// writers returns the ways in which a bank, a file, a plan and people write accounts and balances.
func (d *desk) writers(rng *rand.Rand) map[string]func() error {
	connection := id.New()
	exec(d.T, d.db, `insert into connection (id, short_id, member_id, provider)
		values ($1, $2, '019a3c5e-4000-7000-8000-000000000001', 'teller')`, connection, connection.Short())
	reported := func() (all []Incoming) {
		for i := range 3 {
			a := Incoming{
				ConnectionID: &connection, Provider: "teller", ProviderID: fmt.Sprint("at bank ", i),
				Name: text.Name(fmt.Sprint("Bank ", rng.IntN(3))), Currency: "EUR",
				Type: []string{"other", "credit", "depository"}[i], Guessed: i == 0,
			}
			if rng.IntN(3) > 0 {
				a.BalanceCurrent = new(money.MustParse(fmt.Sprint(rng.IntN(4))))
			}
			all = append(all, a)
		}
		return all
	}
	in := func(do func(ctx context.Context, tx pg.Tx) error) func() error {
		return func() error {
			return d.db.InTx(d.Context(), func(tx pg.Tx) error { return do(d.as(op.User), tx) })
		}
	}
	some := func() id.ID {
		u, err := pg.Value[id.ID](d.Context(), d.db, `select id from account order by created_at, name
			offset $1 % (select count(*) from account) limit 1`, rng.IntN(100))
		if err != nil {
			d.Fatal(err)
		}
		return u
	}
	return map[string]func() error{
		"sync": in(func(ctx context.Context, tx pg.Tx) error {
			_, err := d.reg.RefreshAccounts(ctx, tx, connection, reported())
			return err
		}),
		"balances": in(func(ctx context.Context, tx pg.Tx) error {
			return d.reg.RefreshBalances(ctx, tx, connection, reported())
		}),
		"backfill": in(func(ctx context.Context, tx pg.Tx) error {
			return d.reg.BackfillBalances(ctx, tx)
		}),
		"statement": in(func(ctx context.Context, tx pg.Tx) error {
			day := time.Date(2025, 1, 1+rng.IntN(4), 0, 0, 0, 0, time.UTC)
			return d.reg.State(ctx, tx, some(), ByStatement, []bank.Closing{
				{Day: day, Asset: money.MustParse(fmt.Sprint(rng.IntN(3)))}, {Day: day.AddDate(0, 0, 1), Moment: true},
			})
		}),
		"plan": in(func(ctx context.Context, tx pg.Tx) error {
			u := id.New()
			row := fmt.Sprintf(`{"id": "%s", "short_id": "%s", "provider": "manual", "provider_id": "%s", "name": "x",
				"type": "other", "currency": "EUR", "hidden": false, "held": [], "balance_method": "transactions",
				"guessed": false, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}`,
				u, u.Short(), u)
			return subject{definition, d.reg}.Make(ctx, tx, []json.RawMessage{json.RawMessage(row)})
		}),
		"person": func() error { d.randomStep(rng); return nil },
		"type": func() error {
			a := some()
			_, err := d.patch(op.User, PatchAccount{ID: a.String(), Type: new([]string{"loan", "other"}[rng.IntN(2)])})
			if errs.Is(err, errs.NotFound) { // deleted
				err = nil
			}
			return err
		},
		"revert": func() error {
			list, err := d.j.List(d.Context(), d.db, journal.ListChanges{Limit: 5})
			if err == nil && len(list.Changes) > 0 {
				err = d.tryRevert(list.Changes[rng.IntN(len(list.Changes))].ID)
			}
			if errs.Is(err, errs.Conflict) { // already reverted
				err = nil
			}
			return err
		},
	}
}

// Every write of a balance, or of columns that a proof depends on, records in the same database
// transaction that the account must be proved again. The control ignores these records.
func TestProofsFollowEveryWrite(t *testing.T) {
	t.Parallel()
	for name, control := range map[string]bool{"noted": false, "control": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, rng := newDesk(t), rand.New(rand.NewPCG(3, 4))
			a := newAccount(t, d.db, "a")
			for i := range 20 {
				d.post(a, fmt.Sprintf("2024-%02d-01", 1+i%12), "1.00")
			}
			witness := ledgertest.Watch(t, d.db)
			if control {
				witness.Ignore("proof_due")
			}
			writers := d.writers(rng)
			for range 15 {
				for _, what := range slices.Sorted(maps.Keys(writers)) {
					before := witness.Missed()
					if err := writers[what](); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if n := witness.Missed() - before; !control && n > 0 {
						t.Fatalf("%s: %d proofs are out of date and not noted", what, n)
					}
				}
			}
			if n := witness.Expected(); n < 100 {
				t.Errorf("only %d rows were written", n)
			}
			if control && witness.Missed() == 0 {
				t.Error("the witness did not notice")
			}
		})
	}
}

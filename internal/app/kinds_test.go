package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"coffer/internal/app"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// any returns the short id of a random record from a query's result, or an id that no record has.
func (s *said) any(sql string) string {
	s.Helper()
	ids, err := pg.Values[string](s.Context(), s.DB, sql)
	if err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
	if len(ids) == 0 {
		return "nothing0"
	}
	return ids[s.dice.IntN(len(ids))]
}

func (s *said) cents() float64 { return float64(1+s.dice.IntN(90_000)) / 100 }

func (s *said) day() string {
	return fmt.Sprintf("2026-%02d-%02d", 1+s.dice.IntN(6), 1+s.dice.IntN(28))
}

// kinds maps the ops that change the books, other than transactions from banks, to functions that
// return arguments. Arguments that do not fit the current books are refused.
func (s *said) kinds() map[string]func() map[string]any {
	account := func() string { return s.any(`select short_id from account where deleted_at is null order by id`) }
	byHand := func() string {
		return s.any(`select short_id from account where deleted_at is null and provider = 'manual' order by id`)
	}
	entered := func() string {
		return s.any(`select short_id from transaction where origin = 'manual' and deleted_at is null order by id`)
	}
	target := func() string { return s.any(`select short_id from target where deleted_at is null order by id`) }
	ruled := func() string {
		return s.any(`select short_id from rule where deleted_at is null and not is_system order by id`)
	}
	category := func() string {
		return s.pick("home", "food_and_drink", "travel", "health", "made_a", "made_b", "made_c")
	}
	return map[string]func() map[string]any{
		"target.create": func() map[string]any {
			return map[string]any{
				"category": category(), "amount": s.cents(), "rollover": s.dice.IntN(2) == 0,
				"start_month": s.pick("2026-01", "2026-03"), "iso_currency_code": s.pick("EUR", "EUR", "USD"),
			}
		},
		"target.update": func() map[string]any {
			in := map[string]any{"id": target(), "amount": s.cents()}
			if s.dice.IntN(2) == 0 {
				in["end_month"] = s.pick("2026-04", "2026-12")
			}
			return in
		},
		"target.delete":   func() map[string]any { return map[string]any{"id": target()} },
		"category.create": func() map[string]any { return map[string]any{"slug": category(), "name": "Made"} },
		"category.merge":  func() map[string]any { return map[string]any{"id": s.pick("made_a", "made_b"), "into": category()} },
		"balance.set": func() map[string]any {
			return map[string]any{"id": account(), "day": s.day(), "current": s.cents(), "force": s.dice.IntN(3) == 0}
		},
		"balance.delete": func() map[string]any {
			found := s.any(`select a.short_id || ' ' || b.day from account_balance b join account a on a.id = b.account_id
				where b.source = 'manual' and a.deleted_at is null order by a.id, b.day`)
			if found == "nothing0" {
				found = account() + " 2026-01-01"
			}
			return map[string]any{"id": found[:8], "day": found[9:], "force": true}
		},
		"account.create": func() map[string]any {
			return map[string]any{
				"name": s.pick("Purse", "House", "Car"), "kind": s.pick("cash", "property", "loan"),
				"balance": s.cents(), "balance_date": s.day(),
			}
		},
		"account.update": func() map[string]any {
			in := map[string]any{"id": account(), "force": s.dice.IntN(3) == 0}
			switch s.dice.IntN(4) {
			case 0:
				in["hidden"] = s.dice.IntN(2) == 0
			case 1:
				in["display_name"] = s.pick("Ours", "Yours")
			case 2:
				in["closed_on"] = s.pick("2026-05-31", "2026-06-30")
			default:
				in["id"], in["name"] = byHand(), s.pick("Wallet", "Flat")
			}
			return in
		},
		"account.delete": func() map[string]any { return map[string]any{"id": byHand()} },
		"account-link.update": func() map[string]any {
			return map[string]any{
				"id": s.any(`select short_id from account_link where deleted_at is null order by id`), "force": true,
				"confidence": s.pick("confirmed", "rejected"),
			}
		},
		"account-link.review": func() map[string]any {
			return map[string]any{
				"ids":   []any{s.any(`select short_id from account_link where deleted_at is null order by id`)},
				"force": true, "confidence": s.pick("confirmed", "rejected"),
			}
		},
		"account-link.match": func() map[string]any {
			found := s.any(`select l.short_id || m.short_id from link_match m join account_link l on l.id = m.account_link_id
				where l.deleted_at is null order by m.id`)
			return map[string]any{
				"id": found[:8], "match_id": found[len(found)-8:], "force": true,
				"confidence": s.pick("confirmed", "rejected"),
			}
		},
		"transaction.split": func() map[string]any {
			return map[string]any{
				"transaction_id": s.any(`select short_id from transaction where origin in ('bank', 'manual')
					and deleted_at is null order by id`),
				"parts": []any{
					map[string]any{"amount": s.cents(), "category": category()}, map[string]any{"tags": []any{"part"}},
				}, "force": true,
			}
		},
		"transaction.join": func() map[string]any {
			return map[string]any{
				"transaction_id": s.any(`select short_id from transaction where is_split order by id`), "force": true,
			}
		},
		"transaction.create": func() map[string]any {
			return map[string]any{
				"account_id": account(), "date": s.day(), "amount": 1 + s.dice.IntN(40), "name": s.pick("Market", "Taxi"),
				"category": category(), "tags": []any{"cash"},
			}
		},
		"transaction.update": func() map[string]any {
			in := map[string]any{"transaction_id": entered(), "force": s.dice.IntN(3) == 0}
			switch s.dice.IntN(3) {
			case 0:
				in["amount"] = s.cents()
			case 1:
				in["date"] = s.day()
			default:
				in["name"], in["detail"] = s.pick("Kiosk", "Fair"), s.pick("cash", "by card")
			}
			return in
		},
		"transaction.match": func() map[string]any {
			found := s.any(`select m.short_id || b.short_id from transaction m join transaction b on b.account_id = m.account_id
				where m.origin = 'manual' and b.origin = 'bank' and m.deleted_at is null and b.deleted_at is null
				order by m.id, b.id`)
			in := map[string]any{"id": found[:8], "transaction_id": found[len(found)-8:], "force": true}
			if s.dice.IntN(3) == 0 {
				in["transaction_id"] = nil
			}
			return in
		},
		"account.merge":  func() map[string]any { return map[string]any{"id": byHand(), "into": account()} },
		"account.remove": func() map[string]any { return map[string]any{"id": byHand()} },
		"rule.create": func() map[string]any {
			return map[string]any{"rules": []any{map[string]any{
				"name": s.pick("Trains", "Ferries"), "category_slug": "travel", "enabled": s.dice.IntN(3) > 0,
				"conditions": map[string]any{"field": "name", "op": "contains", "value": s.pick("train", "ferry")},
			}}}
		},
		"rule.update": func() map[string]any {
			in := map[string]any{"id": ruled(), "enabled": s.dice.IntN(3) > 0}
			if s.dice.IntN(3) == 0 {
				in["name"] = s.pick("Ships", "Boats")
			}
			return in
		},
		"rule.delete": func() map[string]any { return map[string]any{"id": ruled()} },
		"report.create": func() map[string]any {
			return map[string]any{"title": fmt.Sprint("Report ", s.dice.IntN(1000)), "body": "x"}
		},
		"report.delete": func() map[string]any {
			return map[string]any{"id": s.any(`select short_id from report where deleted_at is null order by id`)}
		},
	}
}

// since returns the changes after a sequence number, newest first.
func (s *said) since(seq int64) []id.ID {
	s.Helper()
	list, err := pg.Values[id.ID](s.Context(), s.DB, `select id from change where seq > $1 order by seq desc`, seq)
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// make makes changes of random kinds, as a person or an agent, until there are that many.
func (s *said) make(changes int, seq int64, without ...string) {
	s.Helper()
	kinds := s.kinds()
	for _, name := range without {
		delete(kinds, name)
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for len(s.since(seq)) < changes {
		name, actor := names[s.dice.IntN(len(names))], s.actors[s.dice.IntN(len(s.actors))]
		args := kinds[name]()
		if name == "account.merge" || name == "account.remove" {
			args["wait"] = "30s"
		}
		_, err := s.Runner.Call(s.Context(), opNamed(s.T, s.Ops(), name), op.Call{
			Actor: actor, Surface: op.REST, Args: args,
		})
		switch {
		case err == nil:
			s.tally[name]++
		case errs.Is(err, errs.Conflict), errs.Is(err, errs.NotFound), errs.Is(err, errs.InUse),
			errs.Is(err, errs.ValidationError), errs.Is(err, errs.InvalidReference), errs.Is(err, errs.Forbidden),
			errs.Is(err, errs.SlugConflict), errs.Is(err, errs.RateLimited):
			s.tally[name+" refused"]++
		default:
			s.Fatalf("%s: %v", name, err)
		}
		if s.dice.IntN(10) == 0 {
			s.sweep()
		}
	}
}

// revertOne reverts a change as a person, and reports whether all of it was reverted.
func (s *said) revertOne(change id.ID) (whole bool) {
	s.Helper()
	ctx := op.WithActor(s.Context(), s.actors[0])
	err := s.DB.InTx(ctx, func(tx pg.Tx) error {
		r, err := s.Journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
		whole = err == nil && len(r.Skipped) == 0
		return err
	})
	if err != nil && !errs.Is(err, errs.Conflict) {
		s.Fatal(err)
	}
	return whole
}

// TestEveryKindIsReverted makes 200 changes of all kinds, and reverts them newest first and in
// random order. Afterward the books and their totals are as before. A change that a later one
// depends on can only be reverted after that one. The control leaves one revert out.
func TestEveryKindIsReverted(t *testing.T) {
	t.Parallel()
	changes := 200
	if os.Getenv("COFFER_TEST_LONG") != "" {
		changes = 1000
	}
	w := newWorldOn(t, pgtest.URL(t)+"&synchronous_commit=off", app.Config{})
	w.fillLinks(t)
	w.work(t)
	w.onlyPropose(t) // an agent's rules wait for a person, whose decision is reverted too
	s := &said{world: w, T: t, tally: map[string]int{}}
	for _, kind := range []string{op.User, op.User, op.Agent} {
		s.actors = append(s.actors, op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
	}
	for round, order := range []string{"newest first", "random"} {
		s.dice = rand.New(rand.NewPCG(11, uint64(round)))
		s.sweep()
		s.sweep()
		seq, err := pg.Value[int64](t.Context(), w.DB, `select coalesce(max(seq), 0) from change`)
		if err != nil {
			t.Fatal(err)
		}
		before := s.state()
		var without []string
		if order == "random" {
			// Two changes can wait for each other: a target that a merge moved cannot move back to a
			// category whose making was reverted before.
			without = []string{"category.create", "category.merge"}
		}
		s.make(changes, seq, without...)
		left := s.since(seq)
		if order == "newest first" {
			for i, c := range left {
				if whole := s.revertOne(c); !whole {
					t.Errorf("%s: change %d of %d was not reverted whole", order, i, len(left))
				}
				if s.tally["control"] == 0 && i == len(left)-2 {
					if s.sweep(); s.state() == before {
						t.Error("control: one change is left, and the hash is as before")
					}
					s.tally["control"]++
				}
			}
		}
		// When the creation of a record is reverted first, changes about it disappear with it and
		// have nothing left to revert: a balance of a removed account, a target of a removed
		// category.
		for was := 0; order == "random" && len(s.since(seq)) != was; s.tally["passes"]++ {
			was = len(s.since(seq))
			s.dice.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			left = slices.DeleteFunc(left, s.revertOne)
			s.tally["went with their record"] = len(left)
		}
		s.sweep()
		s.sweep()
		if after := s.state(); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", order, before, after)
		}
	}
	t.Log(s.tally)
	for name := range s.kinds() {
		if s.tally[name] == 0 {
			t.Errorf("no change of the kind %s was made", name)
		}
	}
}

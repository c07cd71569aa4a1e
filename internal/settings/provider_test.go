package settings

import (
	"testing"

	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// The result of testing a provider is stored only if the configuration has not changed since the
// test began.
func TestTrialOfAnotherVersion(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	s := New(Config{DB: db})
	store := func(provider string, version int64) (Tested, error) {
		var out Tested
		err := db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			out, err = s.TestProvider(t.Context(), tx, ProviderRef{all.Remote(provider)},
				trial{Tested{OK: true, Code: passed, Message: "x"}, version})
			return err
		})
		return out, err
	}
	if _, err := db.Exec(t.Context(), `insert into provider_setting (provider, version)
		values ('plaid', 2)`); err != nil {
		t.Fatal(err)
	}
	if _, err := store("plaid", 1); !errs.Is(err, errs.Conflict) {
		t.Errorf("the configuration changed during the test: %v", err)
	}
	if n, err := pg.Value[int](t.Context(), db, `select count(*) from provider_setting
		where tested_at is not null`); err != nil || n != 0 {
		t.Errorf("the outdated result was stored in %d rows, %v", n, err)
	}
	for provider, version := range map[string]int64{"plaid": 2, "teller": 0} {
		if got, err := store(provider, version); err != nil || !got.OK || got.At.Time().IsZero() {
			t.Errorf("%s: %+v, %v", provider, got, err)
		}
	}
}

package pattern

import (
	"testing"

	"coffer/internal/due"
	"coffer/internal/pg/pgtest"
)

// Without anything to look at a chore sleeps, and with it not: a query without a row would be an
// error that every server logs every second.
func TestChoresSleep(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Exec(t.Context(), `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values (gen_random_uuid(), 'a0000000', 'manual', 'x', 'Purse', 'depository', 'EUR')`); err != nil {
		t.Fatal(err)
	}
	noted := map[string]string{
		"pattern": `insert into form_due (account_id, form) select id, 1 from account`,
		"finding": `insert into sighting_due default values`,
	}
	for _, chore := range (&Patterns{db: db}).Chores() {
		if wait, err := chore.Next(t.Context(), db); err != nil || wait != due.Never {
			t.Errorf("%s: nothing is to be done, and it is due in %v: %v", chore.Name, wait, err)
		}
		if _, err := db.Exec(t.Context(), noted[chore.Name]); err != nil {
			t.Fatal(err)
		}
		if wait, err := chore.Next(t.Context(), db); err != nil || wait == due.Never {
			t.Errorf("%s: something is to be done, and it sleeps: %v, %v", chore.Name, wait, err)
		}
	}
}

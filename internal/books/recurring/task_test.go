package recurring

import (
	"testing"

	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/schedule"
)

// A task sleeps if there is nothing to do, and does not sleep if there is. An error in its query
// would be logged by every server every second.
func TestTasksSleep(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Exec(t.Context(), `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values (gen_random_uuid(), 'a0000000', 'manual', 'x', 'Purse', 'depository', 'EUR')`); err != nil {
		t.Fatal(err)
	}
	for _, task := range (&Payments{db: db}).Tasks() {
		if wait, err := task.Next(t.Context(), db); err != nil || wait != schedule.Never {
			t.Errorf("%s: nothing is to be done, and it is due in %v: %v", task.Name, wait, err)
		}
		if _, err := db.Exec(t.Context(), `insert into form_due (account_id, form) select id, 1 from account`); err != nil {
			t.Fatal(err)
		}
		if wait, err := task.Next(t.Context(), db); err != nil || wait == schedule.Never {
			t.Errorf("%s: something is to be done, and it sleeps: %v, %v", task.Name, wait, err)
		}
	}
}

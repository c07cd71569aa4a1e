package finding

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
	for _, task := range (&Desk{db: db}).Tasks() {
		if wait, err := task.Next(t.Context(), db); err != nil || wait != schedule.Never {
			t.Errorf("%s: nothing is to be done, and it is due in %v: %v", task.Name, wait, err)
		}
		if _, err := db.Exec(t.Context(), `insert into sighting_due default values`); err != nil {
			t.Fatal(err)
		}
		if wait, err := task.Next(t.Context(), db); err != nil || wait == schedule.Never {
			t.Errorf("%s: something is to be done, and it sleeps: %v, %v", task.Name, wait, err)
		}
	}
}

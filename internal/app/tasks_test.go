package app_test

import "testing"

// TestIdleTasks: a server without work logs no faults, however often its tasks run.
func TestIdleTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	looked := 0
	for _, c := range w.AllTasks() {
		if c.Next == nil {
			continue // by the clock alone
		}
		looked++
		for _, when := range []string{"before", "after"} {
			if _, err := c.Next(t.Context(), w.DB); err != nil {
				t.Errorf("%s, %s it is done: %v", c.Name, when, err)
			}
			if err := c.Do(t.Context()); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
	if looked < 4 {
		t.Errorf("%d tasks say when they are due", looked)
	}
}

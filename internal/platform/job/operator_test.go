package job_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/platform/job"
	"coffer/internal/platform/pg/pgtest"
)

// docs/building/jobs.md has SQL for five questions of operators. With one job in each bad state,
// every query returns exactly the jobs that it is about.
func TestOperatorsQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/building/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	questions := regexp.MustCompile("(?s)## (\\d)[^\n]*\n.*?```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(questions) != 5 {
		t.Fatalf("%d questions", len(questions))
	}
	db := pgtest.New(t)
	j := newJobs(t, db, mortal(nil, nil))
	plights := map[string]string{
		"runs": `state = 'running', lease_owner = 'a', renewed_at = now(), started_at = now() - interval '1 minute'`,
		"lost": `state = 'running', lease_owner = 'b', renewed_at = now() - interval '1 minute', started_at = now(),
			losses = 2`,
		"waits":   `run_at = now() - interval '1 hour'`,
		"retried": `run_at = now() + interval '1 hour', failures = 1, attempt = 1`,
		"done":    `state = 'succeeded', started_at = now() - interval '2 minutes', finished_at = now()`,
		"failed": `state = 'failed', started_at = now() - interval '1 minute', finished_at = now(),
			error_code = 'UPSTREAM_ERROR', error_message = 'the bank is away'`,
	}
	shorts := map[string]string{}
	for plight, set := range plights {
		made := enqueue(t, j, db, "mortal", plight, job.Options{})
		shorts[made.ShortID] = plight
		if _, err := db.Exec(t.Context(), `update job set `+set+` where id = $1`, made.ID); err != nil {
			t.Fatalf("%s: %v", plight, err)
		}
	}
	for i, want := range []string{
		"runs lost", "kind=mortal jobs=2 due=1", "kind=mortal error_code=UPSTREAM_ERROR jobs=1 newest=failed " +
			"message=the bank is away", "lost retried", "kind=mortal jobs=2 succeeded=1",
	} {
		rows, err := db.Query(t.Context(), strings.TrimSuffix(strings.TrimSpace(questions[i][2]), ";"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			for at, f := range rows.FieldDescriptions() {
				shown := fmt.Sprint(values[at])
				if plight, ok := shorts[shown]; ok {
					shown = plight
				}
				if f.Name == "short_id" {
					got = append(got, shown)
				} else if pair := f.Name + "=" + shown; strings.Contains(want, pair) {
					got = append(got, pair)
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Errorf("question %d: %v", i+1, err)
		}
		if shown := strings.Join(got, " "); shown != want {
			t.Errorf("question %d shows %q, want %q", i+1, shown, want)
		}
	}
}

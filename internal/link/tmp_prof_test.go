package link

import (
	"testing"
	"time"

	"coffer/internal/id"
	"coffer/internal/pg"
)

func TestTmpProf(t *testing.T) {
	db, err := pg.Open(t.Context(), "postgres://postgres@127.0.0.1:5432/data_link", pg.Options{StatementTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		s := &scene{links: New(db, nil, nil), window: window{0, 40000}, numbers: map[id.ID]int{}, known: map[[3]id.ID]id.ID{}, matcher: newMatcher()}
		if err := s.look(t.Context(), tx); err != nil {
			return err
		}
		start := time.Now()
		n, _ := pg.Value[int](t.Context(), tx, `select count(*) from (select * from transaction t where amount <> 0 order by t.currency, abs(t.amount), t.date, t.id offset 0) x`)
		t.Log("sorted in pg", n, time.Since(start))
		start = time.Now()
		err := s.pass(t.Context(), tx)
		t.Log(len(s.matcher.pairs), time.Since(start))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

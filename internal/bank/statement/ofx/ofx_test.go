package ofx_test

import (
	"bytes"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/ofx"
	"coffer/internal/bank/statement/wanttest"
)

// Each sample file is read as expected: rows, skipped entries, balances and warnings.
func TestSamples(t *testing.T) {
	t.Parallel()
	wanttest.Check(t, ofx.Format)
}

// If ids begin again in each file, the rows of both months are kept, because keys also contain the
// day and the amount. The control: with only ids and amounts, the second month's rows would match
// the first month's.
func TestIDsThatBeginAgain(t *testing.T) {
	t.Parallel()
	keys, plain := map[string]bool{}, map[string]bool{}
	for _, month := range []string{"feb", "mar"} {
		_, content := wanttest.Load(t, "testdata/05-ids-restart-"+month+".ofx")
		file, err := ofx.Format.Open(t.Context(), bytes.NewReader(content), statement.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var prints statement.Fingerprints
		for row, err := range file.Rows(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			keys[prints.Of(row)] = true
			plain[row.ID.Plain()+row.Amount.String()] = true
		}
	}
	if len(keys) != 6 || len(plain) != 3 {
		t.Errorf("%d keys, and %d of ids and amounts", len(keys), len(plain))
	}
}

package ledger

import (
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// An edit of the category writes only the category's columns, and an edit of a tag writes no column
// of the transaction. Triggers on other columns compare row by row every column that a statement
// names, which is slow for many rows.
func TestEditsWriteOnlyTheirColumns(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 50)
	if _, err := db.Exec(t.Context(), `
		create function named() returns trigger language plpgsql as $$
		begin raise exception 'the statement names %', tg_argv[0]; end $$;
		create trigger spy_category after update of category_id, category_source on transaction
			for each row execute function named('the category');
		create trigger spy_counterparty after update of counterparty_id, counterparty_source on transaction
			for each row execute function named('the counterparty');
		create trigger spy_deleted after update of deleted_at, deleted_source on transaction
			for each row execute function named('the deletion')`); err != nil {
		t.Fatal(err)
	}
	one, err := pg.Value[id.ID](t.Context(), db, `select id from transaction where category_id is not null limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := pg.Value[id.ID](t.Context(), db, `select id from tag limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	for field, edit := range map[string]Edit{
		"category": {Field: journal.FieldCategory}, // cleared
		"tag":      {Field: journal.FieldTag, Tag: &tag, Value: new(Present)},
	} {
		edit.Transaction = one
		err := db.InTx(t.Context(), func(tx pg.Tx) error {
			if field == "category" {
				if _, err := tx.Exec(t.Context(), `alter table transaction disable trigger spy_category`); err != nil {
					return err
				}
			}
			outcomes, _, err := b.Apply(as(t.Context(), op.User), tx, []Edit{edit}, false)
			if err == nil && outcomes[0] != Changed {
				t.Errorf("%s: %s", field, outcomes[0])
			}
			return err
		})
		if err != nil {
			t.Errorf("an edit of %s writes another column: %v", field, err)
		}
	}
}

// The table transaction has no triggers, because the ledger itself updates everything that depends
// on a write (see wrote). The remaining triggers, on other tables, only wake servers or change
// versions.
func TestTransactionsHaveNoTriggers(t *testing.T) {
	t.Parallel()
	_, db := filledBooks(t, 1)
	found, err := pg.Values[string](t.Context(), db, `select tgname::text from pg_trigger
		where tgrelid = 'transaction'::regclass and not tgisinternal`)
	if err != nil || len(found) > 0 {
		t.Errorf("triggers on transaction: %v (%v)", found, err)
	}
}

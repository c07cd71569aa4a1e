package ledgertest

import (
	"testing"

	"coffer/internal/platform/pg"
)

// A Witness sees every row of transactions, accounts and balances that is written. It works out
// independently which accounts must be proved again and which forms must be checked again. The test
// compares that with what the books noted in the same database transaction.
type Witness struct {
	t  *testing.T
	db *pg.DB
}

// follows is the SQL that derives from each written row what the books must note.
var follows = []string{
	`create schema witness`,
	`create table witness.expected (txid xid8 default pg_current_xact_id(), kind text, account_id uuid, form bigint)`,
	`create table witness.noted (txid xid8 default pg_current_xact_id(), kind text, account_id uuid, form bigint)`,

	`create function expect() returns trigger language plpgsql as $$
	begin
		if TG_OP = 'INSERT' or (old.account_id, old.date, old.authorized_date, old.amount, old.currency, old.pending,
				old.deleted_at is null, old.origin) is distinct from (new.account_id, new.date, new.authorized_date,
				new.amount, new.currency, new.pending, new.deleted_at is null, new.origin)
				or new.origin = 'manual' and (old.linked_id is null) <> (new.linked_id is null) then
			insert into witness.expected (kind, account_id) select 'proof', u
				from unnest(array[new.account_id, old.account_id]) u
			where u is not null and (new.origin <> 'part' or new.deleted_at is null);
		end if;
		if TG_OP = 'INSERT' and not new.pending and new.origin <> 'part'
				or TG_OP = 'UPDATE' and (old.account_id, old.date, old.amount, old.currency, old.descriptor_id, old.pending,
				old.counterparty_id, old.excluded, old.transfer, old.deleted_at is null, old.origin) is distinct from
				(new.account_id, new.date, new.amount, new.currency, new.descriptor_id, new.pending,
				new.counterparty_id, new.excluded, new.transfer, new.deleted_at is null, new.origin) then
			insert into witness.expected (kind, account_id, form) select distinct 'form', x.account_id, d.form
			from (values (new.account_id, new.descriptor_id), (old.account_id, old.descriptor_id)) x (account_id, wording)
			join descriptor d on d.id = x.wording where d.form is not null;
		end if;
		return null;
	end $$`,
	`create trigger witness after insert or update on transaction for each row execute function expect()`,

	`create function expect_proof() returns trigger language plpgsql as $$
	begin
		insert into witness.expected (kind, account_id) select distinct 'proof', u::uuid
		from unnest(array[to_jsonb(new)->>TG_ARGV[0], to_jsonb(old)->>TG_ARGV[0]]) u where u is not null;
		return null;
	end $$`,
	`create trigger witness after insert or update or delete on account_balance
		for each row execute function expect_proof('account_id')`,
	`create trigger witness after insert on account for each row execute function expect_proof('id')`,
	`create trigger witness_kind after update on account for each row
		when ((old.type, old.currency, old.balance_method) is distinct from (new.type, new.currency, new.balance_method))
		execute function expect_proof('id')`,

	`create function expect_nothing() returns trigger language plpgsql as $$
	begin
		delete from witness.expected where txid = pg_current_xact_id() and account_id = old.id;
		return null;
	end $$`,
	`create trigger witness_gone after delete on account for each row execute function expect_nothing()`,

	`create function note_proof() returns trigger language plpgsql as
		$$ begin insert into witness.noted (kind, account_id) values ('proof', new.account_id); return null; end $$`,
	`create function note_form() returns trigger language plpgsql as
		$$ begin insert into witness.noted (kind, account_id, form) values ('form', new.account_id, new.form);
			return null; end $$`,
	`create trigger note after insert on proof_due for each row execute function note_proof()`,
	`create trigger note after insert on form_due for each row execute function note_form()`,
}

// Watch installs a Witness in a database. It sees all writes from now on.
func Watch(t *testing.T, db *pg.DB) Witness {
	t.Helper()
	w := Witness{t, db}
	for _, s := range follows {
		w.exec(s)
	}
	return w
}

// Ignore makes the Witness miss what the books note in that table (proof_due or form_due) from now
// on. A test uses it to show that it can fail.
func (w Witness) Ignore(table string) {
	w.t.Helper()
	w.exec(`drop trigger note on ` + table)
}

func (w Witness) exec(statement string) {
	w.t.Helper()
	if _, err := w.db.Exec(w.t.Context(), statement); err != nil {
		w.t.Fatal(err)
	}
}

// Missed counts what the books should have noted in the same database transaction and did not.
// Accounts that no longer exist when that transaction ends do not count.
func (w Witness) Missed() int64 {
	w.t.Helper()
	return w.count(`select count(*) from (select * from witness.expected except select * from witness.noted) x`)
}

// Expected counts everything that the books should have noted.
func (w Witness) Expected() int64 {
	w.t.Helper()
	return w.count(`select count(*) from witness.expected`)
}

func (w Witness) count(statement string) int64 {
	w.t.Helper()
	n, err := pg.Value[int64](w.t.Context(), w.db, statement)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

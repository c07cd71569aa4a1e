-- +goose Up

-- What a sweep looks at again is noted for each row that changed, and no longer by comparing all old
-- rows with all new ones: only a trigger for each row costs nothing when other columns are updated, such
-- as the category.
drop trigger transaction_changed on transaction;
drop function note_changed_forms();
-- +goose StatementBegin
create function note_changed_form() returns trigger language plpgsql as $$
begin
	insert into form_due (account_id, form)
	select old.account_id, d.form from descriptor d where d.id = old.descriptor_id and d.form is not null;
	if (old.account_id, old.descriptor_id) <> (new.account_id, new.descriptor_id) then
		insert into form_due (account_id, form)
		select new.account_id, d.form from descriptor d where d.id = new.descriptor_id and d.form is not null;
	end if;
	return null;
end $$;
-- +goose StatementEnd
create trigger transaction_changed after update of account_id, date, amount, currency, descriptor_id, pending,
	counterparty_id, excluded, transfer, deleted_at, origin on transaction
	for each row when ((old.account_id, old.date, old.amount, old.currency, old.descriptor_id, old.pending,
			old.counterparty_id, old.excluded, old.transfer, old.deleted_at is null, old.origin) is distinct from
		(new.account_id, new.date, new.amount, new.currency, new.descriptor_id, new.pending,
			new.counterparty_id, new.excluded, new.transfer, new.deleted_at is null, new.origin))
	execute function note_changed_form();

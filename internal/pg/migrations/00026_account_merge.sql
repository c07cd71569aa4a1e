-- +goose Up

-- The account from which a transaction came, if its account was merged into another. The bank of the
-- account that it is in now does not know it, so that nothing is concluded from its absence there.
alter table transaction add moved_from uuid references account (id) on delete set null;
create index transaction_moved_from on transaction (moved_from) where moved_from is not null; -- the foreign key's check when an account is erased

-- An account that another was merged into can be erased.
alter table account drop constraint account_merged_into_fkey,
	add constraint account_merged_into_fkey foreign key (merged_into) references account (id) on delete set null;

-- Which rows differ is found by set difference: a join of the old rows with the new ones keeps the plan
-- of its first call, and a nested loop that was right for one row takes minutes for thousands.
-- +goose StatementBegin
create or replace function note_changed_forms() returns trigger language plpgsql as $$
begin
	insert into form_due (account_id, form)
	select distinct z.account_id, z.form from (
		select x.account_id, (select d.form from descriptor d where d.id = x.descriptor_id) as form
		from (
			select distinct y.account_id, y.descriptor_id from (
				(select id, account_id, date, amount, currency, descriptor_id, pending, counterparty_id, excluded, transfer,
					deleted_at is null, origin from gone
				except
				select id, account_id, date, amount, currency, descriptor_id, pending, counterparty_id, excluded, transfer,
					deleted_at is null, origin from fresh)
				union all
				(select id, account_id, date, amount, currency, descriptor_id, pending, counterparty_id, excluded, transfer,
					deleted_at is null, origin from fresh
				except
				select id, account_id, date, amount, currency, descriptor_id, pending, counterparty_id, excluded, transfer,
					deleted_at is null, origin from gone)) y) x) z
	where z.form is not null;
	return null;
end $$;
-- +goose StatementEnd

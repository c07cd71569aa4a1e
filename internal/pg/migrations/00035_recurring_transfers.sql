-- +goose Up

-- Whether a recurring payment goes between own accounts, by confirmed links: it moves the balances ahead
-- and is in no total.
alter table recurring add transfer boolean not null default false;

-- The next sweep looks for them: they were left out before.
insert into form_due (account_id, form)
select distinct t.account_id, d.form from transaction t join descriptor d on d.id = t.descriptor_id
where t.transfer and d.form is not null and t.deleted_at is null;

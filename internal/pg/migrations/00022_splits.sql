-- +goose Up

-- Who split a transaction: what a person divided is held against agents.
alter table transaction add split_source text check (split_source in ('user', 'agent'));
-- A part that is in no split any more is a tombstone, which a revert brings back.
alter table transaction add constraint transaction_part check (parent_id is not null or origin <> 'part' or deleted_at is not null) not valid;
alter table transaction validate constraint transaction_part;
-- What counts of them can be taken off a count that an index alone gives.
create index transaction_divided on transaction (descriptor_id, date) where is_split or origin = 'part';

-- The parts of a split transaction follow it in all that they do not own: amount, category,
-- counterparty, tags and comments. The remainder is what the others leave, whatever the bank makes of
-- the amount, so that the parts add up to their transaction at every commit.
-- +goose StatementBegin
create function transaction_parts() returns trigger language plpgsql as $$
begin
	update transaction p set
		account_id = new.account_id, date = new.date, authorized_date = new.authorized_date, datetime = new.datetime,
		currency = new.currency, descriptor_id = new.descriptor_id, category_primary = new.category_primary,
		category_detailed = new.category_detailed, payment_channel = new.payment_channel, pending = new.pending,
		excluded = new.excluded, transfer = new.transfer, deleted_at = new.deleted_at,
		deleted_source = new.deleted_source, updated_at = new.updated_at,
		amount = case when p.remainder then new.amount - v.given else p.amount end
	from (select coalesce(sum(o.amount), 0) as given from transaction o where o.parent_id = new.id and not o.remainder) v
	where p.parent_id = new.id and (p.account_id, p.date, p.authorized_date, p.datetime, p.currency, p.descriptor_id,
			p.category_primary, p.category_detailed, p.payment_channel, p.pending, p.excluded, p.transfer, p.deleted_at,
			p.deleted_source, p.amount)
		is distinct from (new.account_id, new.date, new.authorized_date, new.datetime, new.currency, new.descriptor_id,
			new.category_primary, new.category_detailed, new.payment_channel, new.pending, new.excluded, new.transfer,
			new.deleted_at, new.deleted_source, case when p.remainder then new.amount - v.given else p.amount end);
	return null;
end $$;
-- +goose StatementEnd
create trigger transaction_parts after update on transaction for each row when (new.is_split)
	execute function transaction_parts();

-- +goose Up

-- What people decided, by wording. It is little beside all transactions, and a sheet of a workflow
-- looks it up for every payee.
create index transaction_decided on transaction (descriptor_id, date desc)
	where category_source = 'user' and deleted_at is null;

-- From a payee to its newest wordings: a payee can have ten thousands.
drop index descriptor_payee;
create index descriptor_payee on descriptor (payee, id);

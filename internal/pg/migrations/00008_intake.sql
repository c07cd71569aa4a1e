-- +goose Up

-- Ids under which a bank knew a transaction before: a pending one gets a new id when it posts, and a sync that begins again may bring the old one once more.
create table transaction_alias (
	account_id     uuid not null references account (id),
	provider_id    text not null,
	transaction_id uuid not null references transaction (id),
	primary key (account_id, provider_id)
);
create index transaction_alias_transaction on transaction_alias (transaction_id); -- when a transaction goes for good

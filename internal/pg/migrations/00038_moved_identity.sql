-- +goose Up

-- A file that is imported into an account finds those of its rows that moved to another account. The
-- old index goes last, because readers wait while it does.
create index transaction_moved_identity on transaction (moved_from, provider_id) where moved_from is not null;
drop index transaction_moved_from;

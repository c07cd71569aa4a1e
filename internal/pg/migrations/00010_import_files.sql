-- +goose Up

-- What an import was of: the account that the rows went into, and the file's name as the caller gave
-- it. They are not in the summary of the import's change, so that they go when the log is erased.
alter table sync_log add account_id uuid references account (id), add file_name text;
create index sync_log_account on sync_log (account_id) where account_id is not null; -- the foreign key's check when an account is erased

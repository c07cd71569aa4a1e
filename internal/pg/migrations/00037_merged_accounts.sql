-- +goose Up

-- An account that was merged into another is not there. One that is, after half of a merge was undone,
-- leads nowhere.
update account set merged_into = null where merged_into is not null and deleted_at is null;
alter table account add constraint account_merged_is_gone check (merged_into is null or deleted_at is not null);

-- +goose NO TRANSACTION
-- +goose Up

-- The overview counts what has no category. Built while others read and write; what an earlier try
-- left behind goes first.
drop index concurrently if exists transaction_uncategorized;
create index concurrently transaction_uncategorized on transaction (date desc, id desc)
	where category_id is null and deleted_at is null and not pending and not excluded and not is_split;

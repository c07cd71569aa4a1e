-- +goose Up

-- When a transaction or a change goes for good, PostgreSQL looks for what still refers to it. Without these it would read the whole table for each of them.
create index comment_of_transaction on comment (transaction_id); -- deleted ones too, which comment_transaction leaves out
create index sync_log_change on sync_log (change_id) where change_id is not null;
create index change_reverts on change (reverts) where reverts is not null;

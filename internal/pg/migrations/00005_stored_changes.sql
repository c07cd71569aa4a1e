-- +goose Up

-- The change that the call recorded, so that a repeated call reports it too.
alter table idempotency add change_id uuid;

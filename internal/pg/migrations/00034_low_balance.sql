-- +goose Up

-- Below which balance an account is low, and since when it is: null until it is, and again once it is
-- a tenth above.
alter table account add low_balance numeric(12,2), add low_since timestamptz;

-- The journal records the limit with the rest of an account. Changes and plans that were recorded
-- without it stay revertible.
update entry set before = (before::jsonb || '{"low_balance": null}')::text, after = (after::jsonb || '{"low_balance": null}')::text
where subject = 'account' and field = 'record';
update workflow_plan set before = (before::jsonb || '{"low_balance": null}')::text,
	after = (after::jsonb || '{"low_balance": null}')::text
where subject = 'account' and field = 'record';

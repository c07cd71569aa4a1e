-- +goose Up

-- The journal records of an account since when it is reviewed, too. Changes that were recorded
-- without it stay revertible.
update entry e set before = (e.before::jsonb || '{"review_from": null}')::text,
	after = (e.after::jsonb || '{"review_from": null}')::text
from account a where e.subject_id = a.id and e.subject = 'account' and e.field = 'record';

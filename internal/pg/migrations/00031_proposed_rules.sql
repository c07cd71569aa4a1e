-- +goose Up

-- Whether agents only propose rules: theirs are stored disabled, and a person enables them.
alter table setting add propose_rules boolean not null default false;

-- A proposed rule waits for a person, and does nothing until then.
alter table rule add proposed boolean not null default false,
	add constraint rule_proposed_check check (not (proposed and enabled));

-- The journal records it with the rest of a rule. Changes and plans that were recorded without it
-- stay revertible.
update entry set before = (before::jsonb || '{"proposed": false}')::text, after = (after::jsonb || '{"proposed": false}')::text
where subject = 'rule' and field = 'record';
update workflow_plan set before = (before::jsonb || '{"proposed": false}')::text,
	after = (after::jsonb || '{"proposed": false}')::text
where subject = 'rule' and field = 'record';

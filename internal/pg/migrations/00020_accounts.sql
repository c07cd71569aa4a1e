-- +goose Up

-- People can also hold what an account is: its kind, names, currency, bank and last day.
alter table account drop constraint account_held_check,
	add constraint account_held_check check (held <@ array['display_name', 'hidden', 'owner', 'name',
		'iso_currency_code', 'institution_name', 'type', 'subtype', 'balance_method', 'closed_on']);

-- The journal records all that the household can say of an account. Changes that were recorded with
-- less stay revertible.
update entry e set before = (e.before::jsonb || v.more)::text, after = (e.after::jsonb || v.more)::text
from account a, lateral (select jsonb_build_object('currency', a.currency, 'type', a.type, 'subtype', a.subtype,
	'institution_name', a.institution_name, 'balance_method', a.balance_method, 'closed_on', a.closed_on) as more) v
where e.subject_id = a.id and e.subject = 'account' and e.field = 'record';

-- A statement says what is in an account; of a card or a loan it is stored as what is owed. So it
-- turns when an account turns out to be of the other kind. What a person stated is left as written.
-- +goose StatementBegin
create function account_turned() returns trigger language plpgsql as $$
begin
	update account_balance set current = -current
	where account_id = new.id and exact and source <> 'manual' and current is not null;
	return null;
end $$;
-- +goose StatementEnd
create trigger account_turned after update of type on account for each row
	when ((old.type in ('credit', 'loan')) <> (new.type in ('credit', 'loan'))) execute function account_turned();

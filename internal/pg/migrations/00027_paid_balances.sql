-- +goose Up

-- When banks are asked for current balances, which may cost money.
alter table setting add paid_balances text not null default 'manual' check (paid_balances in ('manual', 'daily', 'never'));

-- When a connection's bank was last asked. Whoever writes it may ask; the others wait.
alter table connection add balances_asked_at timestamptz;

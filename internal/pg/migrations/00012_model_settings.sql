-- +goose Up

-- ==== setting: models ====

-- Servers keep a client per model provider in memory; the version tells them when to make a new one.
alter table model_setting add version bigint not null default 1;

-- The model of workflows that name none, and how long transcripts of their runs are kept.
alter table setting
	add default_provider text check (default_provider in ('anthropic', 'openai_compatible')),
	add default_model    text check (default_model <> ''),
	add transcript_days  integer not null default 90 check (transcript_days between 1 and 3650),
	add constraint setting_default_model check ((default_provider is null) = (default_model is null));

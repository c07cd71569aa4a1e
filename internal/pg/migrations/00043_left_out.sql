-- +goose Up

-- Why somebody left a transaction out of totals, and who did: what a person decided is held. The mark
-- excluded beside it is for duplicates, which follow from links and matches.
-- refund_of is the purchase of a confirmed refund.
alter table transaction
	add excluded_reason text check (excluded_reason in ('reimbursed', 'duplicate', 'other')),
	add excluded_source text check (excluded_source in ('user', 'agent')),
	add refund_of       uuid constraint transaction_refund_of references transaction (id) on delete set null;
create index transaction_left_out on transaction (date) where excluded_reason is not null; -- notes count them
create index transaction_refunds on transaction (refund_of) where refund_of is not null; -- from a purchase to its refunds

-- Somebody can agree with a finding.
alter table finding drop constraint finding_state_check;
alter table finding add constraint finding_state_check check (state in ('open', 'dismissed', 'confirmed'));

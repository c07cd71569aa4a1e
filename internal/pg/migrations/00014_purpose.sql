-- +goose Up

-- The purpose of a payment is part of its wording: '' if the bank passes none on. A wording that has
-- one has it as the third line of its folded text; those that are stored have none, so they stay as
-- they are.
alter table descriptor add detail text not null default '';

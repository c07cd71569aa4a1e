-- +goose Up

-- The wording of the payee, if all transactions of a change have the same one. Its text is not in
-- the summary, so that it goes when the wording is erased.
alter table change add wording integer;

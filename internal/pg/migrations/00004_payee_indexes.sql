-- +goose Up

-- On their own: this waits for writers, but readers go on.
create index descriptor_form on descriptor (form); -- recurring payments
create index descriptor_payee on descriptor (payee); -- from a payee to its wordings; what is not filled in yet

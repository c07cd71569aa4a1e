package accountlink

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// mirrorLock is the number of the lock under which mirror links begin to count.
const mirrorLock = 0x6d697272

// noCircle refuses what circles finds.
func noCircle(circle bool, err error) error {
	if err == nil && circle {
		err = errs.New(errs.Conflict,
			"these accounts would mirror each other in a circle, so no total would count them; reject or "+
				"delete another of their mirror links first: {account-link.list} with kind mirror lists them")
	}
	return err
}

// circles reports whether the link would close a circle of mirrors, each repeating the next, so
// that the transactions of none would count. Nobody else makes a mirror link count until the
// transaction ends, so that two callers do not close one together. Accounts that are gone are no
// gap in a circle, because a revert brings them back.
func circles(ctx context.Context, tx pg.Tx, was stored, to record) (bool, error) {
	if to.Kind != "mirror" || !to.live() {
		return false, nil
	}
	if to.Confidence != Confirmed { // then only pairs count that were confirmed alone
		some, err := pg.Value[bool](ctx, tx, `select exists (select from link_match where account_link_id = $1
			and verdict = 'confirmed')`, was.ID)
		if err != nil || !some {
			return false, err
		}
	}
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, mirrorLock); err != nil {
		return false, err
	}
	return pg.Value[bool](ctx, tx, `
		with recursive counting as (
			select l.primary_id, l.mirror_id from account_link l
			where l.kind = 'mirror' and l.deleted_at is null and l.id <> $1 and (l.confidence = 'confirmed'
				or l.confidence = 'auto' and exists (select from link_match m where m.account_link_id = l.id
					and m.verdict = 'confirmed'))),
		repeats as (
			select $2::uuid as id
			union select c.mirror_id from repeats r join counting c on c.primary_id = r.id)
		select exists (select from repeats where id = $3)`, was.ID, was.other(to.PrimaryID), to.PrimaryID)
}

// other is the account of the link that is not this one.
func (s stored) other(account id.ID) id.ID {
	if s.Primary == account {
		return s.Mirror
	}
	return s.Primary
}

// pairCircles is circles for a pair of a link that is confirmed alone.
func pairCircles(ctx context.Context, tx pg.Tx, link id.ID, verdict *string) (bool, error) {
	if verdict == nil || *verdict != Confirmed {
		return false, nil
	}
	of, err := pg.One[stored](ctx, tx, storedRows+` where l.id = $1`, link)
	if err != nil || of.Verdict != Auto {
		return false, err
	}
	return circles(ctx, tx, of, record{of.Primary, of.Kind, Confirmed, of.IsDeleted})
}

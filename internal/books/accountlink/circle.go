package accountlink

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// mirrorLock is the key of the advisory lock that a transaction holds while it makes a mirror link
// count.
const mirrorLock = 0x6d697272

// noCircle returns an error if circles found a circle.
func noCircle(circle bool, err error) error {
	if err == nil && circle {
		err = errs.New(errs.Conflict,
			"these accounts would mirror each other in a circle, so no total would count them; reject or "+
				"delete another of their mirror links first: {account-link.list} with kind mirror lists them")
	}
	return err
}

// circles reports whether the link would close a circle of mirror links. In a circle each account
// repeats the next, so the transactions of none of them would count. A lock until the end of the
// transaction keeps two callers from closing a circle together. Deleted accounts are part of a
// circle too, because a revert can restore them.
func circles(ctx context.Context, tx pg.Tx, was stored, to record) (bool, error) {
	if to.Kind != "mirror" || !to.live() {
		return false, nil
	}
	if to.Confidence != Confirmed { // then the link counts only if one of its pairs was confirmed
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

// other returns the other account of the link.
func (s stored) other(account id.ID) id.ID {
	if s.Primary == account {
		return s.Mirror
	}
	return s.Primary
}

// pairCircles is circles for a pair that is confirmed while its link is not.
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

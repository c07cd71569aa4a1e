package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"time"

	"coffer/internal/errs"
	"coffer/internal/pg"
)

// Sign-ins are counted in the database, so that another server is no fresh start. What is counted is always something of the caller's own: an address, or an address with the account it tries.
// An account alone is never held up, because anyone could then keep its owner out by guessing.
const (
	usualTries   = 10          // sign-ins a minute from one address
	freeFailures = 5           // of one account from one address; each further one doubles the wait
	longestWait  = 15 * 60     // seconds
	forgetAfter  = "24 hours"  // without a further failure
	tryWindow    = time.Minute // over which sign-ins of one address are counted
)

// Network is the part of an address that one caller has: an IPv6 customer is given at least 2^64 of them.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return p.String()
}

// try counts a sign-in from the address, and answers the how manieth within the minute it is.
func (a *Auth) try(ctx context.Context, address string) (int, error) {
	tries, wait, err := a.count(ctx, "address "+Network(address), tryWindow)
	if err != nil {
		return 0, err
	}
	if limit := a.LoginsPerMinute; tries > limit {
		return 0, errs.New(errs.RateLimited, "from one address %d people a minute can sign in; wait a moment", limit).Later(wait)
	}
	return tries, nil
}

// count counts what is done under a name, for all servers together: the how manieth within the window it is, and when the window ends.
func (a *Auth) count(ctx context.Context, bucket string, window time.Duration) (tries int, left time.Duration, err error) {
	type count struct {
		Tries int `db:"tries"`
		Wait  int `db:"wait"`
	}
	c, err := pg.One[count](ctx, a.db, `
		insert into attempt (bucket, tries, free_at, expires_at) values ($1, 1, now() + make_interval(secs => $2), now() + make_interval(secs => $2))
		on conflict (bucket) do update set
			tries = case when attempt.expires_at <= now() then 1 else attempt.tries + 1 end,
			free_at = case when attempt.expires_at <= now() then excluded.free_at else attempt.free_at end,
			expires_at = case when attempt.expires_at <= now() then excluded.expires_at else attempt.expires_at end
		returning tries, ceil(extract(epoch from free_at - now()))::integer as wait`, bucket, window.Seconds())
	return c.Tries, time.Duration(c.Wait) * time.Second, err
}

// Knock counts someone who begins to sign in by other means than a password, each means for itself: what is begun is stored, and must not be without bound.
func (a *Auth) Knock(ctx context.Context, means, address string) error {
	_, err := a.try(ctx, means+" "+Network(address))
	return err
}

// pair names one account as tried from one address. The account stands in it as a hash: it may be no account, but a password typed into the wrong field.
func pair(identifier, address string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(identifier)))
	return "pair " + hex.EncodeToString(sum[:16]) + " " + Network(address)
}

// held says how long this address must still wait before it may try that account again.
func (a *Auth) held(ctx context.Context, bucket string) error {
	wait, err := pg.Value[int](ctx, a.db, `select ceil(extract(epoch from free_at - now()))::integer from attempt where bucket = $1 and free_at > now()`, bucket)
	if errors.Is(err, pg.ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	return errs.New(errs.RateLimited, "this was wrong several times from here; wait %d s, sign in with a passkey, or from where you usually do", wait).Later(time.Duration(wait) * time.Second)
}

// failed remembers that this address did not know the account's password: five times are free, then waits double.
func (a *Auth) failed(ctx context.Context, bucket string) error {
	_, err := pg.Exec(ctx, a.db, `
		insert into attempt (bucket, tries, free_at, expires_at) values ($1, 1, now(), now() + $4::interval)
		on conflict (bucket) do update set
			tries = case when attempt.expires_at <= now() then 1 else least(attempt.tries + 1, 1000) end,
			free_at = case when attempt.expires_at <= now() or attempt.tries + 1 <= $2 then now()
				else now() + make_interval(secs => least($3, power(2, least(attempt.tries - $2, 20)))) end,
			expires_at = excluded.expires_at`, bucket, freeFailures, longestWait, forgetAfter)
	return err
}

func (a *Auth) forgive(ctx context.Context, bucket string) error {
	_, err := pg.Exec(ctx, a.db, `delete from attempt where bucket = $1`, bucket)
	return err
}

// Sweep removes what is over: counted attempts, links and codes that nobody used, sessions and recovery codes that ended long ago. Every replica may do it: they skip each other's rows.
func (a *Auth) Sweep(ctx context.Context) error {
	_, err := pg.Exec(ctx, a.db, `delete from attempt where bucket in (select bucket from attempt where expires_at < now() limit 5000 for update skip locked)`)
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `delete from ticket where hash in (select hash from ticket where expires_at < now() limit 5000 for update skip locked)`)
	}
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `delete from device where id in (select id from device where expires_at < now() - interval '1 hour' limit 5000 for update skip locked)`)
	}
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `
			delete from token where id in (
				select id from token where kind in ('session', 'recovery') and (expires_at < now() - interval '1 day' or revoked_at < now() - interval '1 day') limit 5000 for update skip locked)`)
	}
	if err == nil {
		err = a.sweepGrants(ctx)
	}
	return err
}

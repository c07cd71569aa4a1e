package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// Attempts are counted in the database, so a caller cannot start again at another server. The
// counted key always belongs to the caller: an address, or an address with the account that it
// tries. An account alone is never throttled, because anyone could then lock its owner out by
// guessing.
const (
	usualTries   = 10          // sign-ins a minute from one address
	freeFailures = 5           // for one account from one address; each further failure doubles the wait
	longestWait  = 15 * 60     // seconds
	forgetAfter  = "24 hours"  // a failure is forgotten after this time without another one
	tryWindow    = time.Minute // the period in which sign-ins of one address are counted
)

// A width is the size of a network of callers, and by how much its limit is higher than that of one
// address. An IPv6 customer has at least a /64, usually a /56 and sometimes a /48, so one customer
// can send a flood from 65,536 networks. A wide network may also have many customers, so its limit
// is higher.
type width struct{ bits, times int }

var usualWidths = []width{{64, 1}, {56, 4}, {48, 16}}

// Network returns the part of an address that one caller controls. An IPv6 customer has at least
// 2^64 addresses, so for IPv6 it is the /64 network.
func Network(address string) string { return network(address, usualWidths[0].bits) }

func network(address string, bits int) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return ip.String()
	}
	return p.String()
}

// try counts a sign-in from the address. It returns the highest number of sign-ins within the
// minute among the networks that contain the address.
func (a *Auth) try(ctx context.Context, means, address string) (int, error) {
	largest, refused, wait, err := a.countNetworks(ctx, "address "+means, address, a.LoginsPerMinute, tryWindow)
	if err == nil && refused {
		err = errs.New(errs.RateLimited,
			"too many sign-ins from this address (limit %d per minute); try again in a minute",
			a.LoginsPerMinute).Later(wait).Limited("sign-ins", a.LoginsPerMinute, time.Minute)
	}
	return largest, err
}

// countNetworks counts an attempt from an address for each network that contains the address. It
// returns the largest count, whether a count is above its limit, and how long to wait in that case.
func (a *Auth) countNetworks(ctx context.Context, what, address string, limit int, window time.Duration) (largest int,
	refused bool, wait time.Duration, err error,
) {
	seen := map[string]bool{}
	for _, w := range a.widths {
		name := network(address, w.bits)
		if seen[name] { // an IPv4 address is its own network
			continue
		}
		seen[name] = true
		tries, left, err := a.count(ctx, what+name, window)
		if err != nil {
			return 0, false, 0, err
		}
		largest = max(largest, tries)
		if tries > limit*w.times {
			return largest, true, left, nil // a refused attempt does not count against the wider networks
		}
	}
	return largest, false, 0, nil
}

// count records an attempt under a name, for all servers together. It returns its ordinal within
// the window, and when the window ends.
func (a *Auth) count(ctx context.Context, bucket string, window time.Duration) (tries int, left time.Duration,
	err error,
) {
	type count struct {
		Tries int `db:"tries"`
		Wait  int `db:"wait"`
	}
	c, err := pg.One[count](ctx, a.db, `
		insert into attempt (bucket, tries, free_at, expires_at)
			values ($1, 1, now() + make_interval(secs => $2), now() + make_interval(secs => $2))
		on conflict (bucket) do update set
			tries = case when attempt.expires_at <= now() then 1 else attempt.tries + 1 end,
			free_at = case when attempt.expires_at <= now() then excluded.free_at else attempt.free_at end,
			expires_at = case when attempt.expires_at <= now() then excluded.expires_at else attempt.expires_at end
		returning tries, ceil(extract(epoch from free_at - now()))::integer as wait`, bucket, window.Seconds())
	return c.Tries, time.Duration(c.Wait) * time.Second, err
}

// Knock counts the start of a sign-in without a password, separately for each kind. The number of
// starts must be limited, because each one is stored.
func (a *Auth) Knock(ctx context.Context, means, address string) error {
	_, err := a.try(ctx, means+" ", address)
	return err
}

// pair returns the name under which attempts on one account from one address are counted. It
// contains only a hash of the account, because someone may have entered a password in that field.
func pair(identifier, address string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(identifier)))
	return "pair " + hex.EncodeToString(sum[:16]) + " " + Network(address)
}

// held returns an error if this address must wait before it may try the account again.
func (a *Auth) held(ctx context.Context, bucket string) error {
	wait, err := pg.Value[int](ctx, a.db, `select ceil(extract(epoch from free_at - now()))::integer from attempt
		where bucket = $1 and free_at > now()`, bucket)
	if errors.Is(err, pg.ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	return errs.New(errs.RateLimited,
		"too many failed attempts; wait %d s, use a passkey, or try from your usual device",
		wait).Later(time.Duration(wait) * time.Second)
}

// failed counts a wrong password for the account from this address. After five free failures each
// further one doubles the wait.
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

// Sweep deletes expired records: counted attempts, unused links and codes, and sessions and
// recovery codes that ended long ago. Every replica may run it: they skip each other's rows.
func (a *Auth) Sweep(ctx context.Context) error {
	_, err := pg.Exec(ctx, a.db, `delete from attempt where bucket in (select bucket from attempt
		where expires_at < now() limit 5000 for update skip locked)`)
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `delete from ticket where hash in (select hash from ticket
			where expires_at < now() limit 5000 for update skip locked)`)
	}
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `delete from device where id in (select id from device
			where expires_at < now() - interval '1 hour' limit 5000 for update skip locked)`)
	}
	if err == nil {
		_, err = pg.Exec(ctx, a.db, `
			delete from token where id in (
				select id from token where kind in ('session', 'recovery')
					and (expires_at < now() - interval '1 day' or revoked_at < now() - interval '1 day')
					limit 5000 for update skip locked)`)
	}
	if err == nil {
		err = a.sweepGrants(ctx)
	}
	return err
}

package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// How long each part of a consent is valid. A refresh token can be used once; the next refresh
// token has its own period.
const (
	CodeLife    = time.Minute
	AccessLife  = time.Hour
	RefreshLife = 30 * 24 * time.Hour
)

const (
	accessPrefix  = "coffer_at_"
	refreshPrefix = "coffer_rt_"
	grantRandom   = 43 // base62 characters: 256 bits
)

// The reasons why a grant is refused, in the terms of RFC 6749 and RFC 8707.
var (
	ErrInvalidGrant  = errors.New("invalid_grant")
	ErrInvalidTarget = errors.New("invalid_target")
)

// A Wish is the access that a program requested and a member has just granted.
type Wish struct {
	Client      Client
	Scope       op.Scope
	Resource    string
	RedirectURI string
	Challenge   string // the PKCE challenge, by S256
}

// Consent creates a code for the access that a member granted to a program. The code is valid once
// and for one minute, for a client that also knows the verifier of the PKCE challenge.
func (a *Auth) Consent(ctx context.Context, actor op.Actor, in Wish) (code string, err error) {
	if actor.Session == nil || actor.Member == nil {
		return "", errs.New(errs.Forbidden, "only a signed-in member can connect an assistant")
	}
	if err := op.Confidential(actor); err != nil {
		return "", err
	}
	if in.Scope > actor.Scope {
		return "", errs.New(errs.InsufficientScope,
			"your role is view-only, so you can't let an assistant make changes")
	}
	if in.Scope == op.Full {
		if err := op.Proven(actor); err != nil {
			return "", err
		}
	}
	code = id.Base62(grantRandom)
	hash := sha256.Sum256([]byte(code))
	err = a.db.InTx(ctx, func(tx pg.Tx) error {
		return pg.Redraw(ctx, tx, "consent_short_id", func(tx pg.Tx) error {
			newID := id.New()
			_, err := pg.Exec(ctx, tx, `
				insert into consent (id, short_id, member_id, client_id, scope, resource, redirect_uri, code_hash,
					challenge, code_expires_at)
				values (@id, @short, @member, @client, @scope, @resource, @redirect, @hash, @challenge,
					now() + make_interval(secs => @life))`, pg.Args{
				"id": newID, "short": newID.Short(), "member": actor.Member, "client": in.Client.ID,
				"scope": in.Scope.String(), "resource": in.Resource,
				"redirect": in.RedirectURI, "hash": hash[:], "challenge": in.Challenge, "life": CodeLife.Seconds(),
			})
			return err
		})
	})
	return code, err
}

// Tokens are issued for a code or a refresh token, and can be read only this once.
type Tokens struct {
	Access, Refresh string
	Scope           op.Scope
}

// A consentFamily is a consent with the data that its tokens need.
type consentFamily struct {
	ID          id.ID  `db:"id"`
	Member      id.ID  `db:"member_id"`
	ClientName  string `db:"client_name"`
	ClientTitle string `db:"client_title"`
	Scope       string `db:"scope"`
	Resource    string `db:"resource"`
	RedirectURI string `db:"redirect_uri"`
	Challenge   string `db:"challenge"`
	Over        bool   `db:"over"` // it was revoked, or the member left
}

func (f consentFamily) reach() op.Scope {
	if f.Scope == op.Full.String() {
		return op.Full
	}
	return op.Read
}

const familyColumns = `g.id, g.member_id, c.name as client_name, c.title as client_title, g.scope, g.resource,
	g.redirect_uri, g.challenge, g.revoked_at is not null or m.deleted_at is not null as over`

// A Redemption is what a program sends to redeem a code. RedirectURI and Resource may be empty; if
// given, they must match those of the code.
type Redemption struct {
	Client, Code, Verifier, RedirectURI, Resource string
}

// Exchange exchanges a code for tokens. The code is used up even if Exchange fails. If the code is
// sent several times, at most one caller gets tokens, and a later use revokes these tokens too.
func (a *Auth) Exchange(ctx context.Context, in Redemption) (Tokens, error) {
	hash := sha256.Sum256([]byte(in.Code))
	sum := sha256.Sum256([]byte(in.Verifier))
	answer := base64.RawURLEncoding.EncodeToString(sum[:])
	var g Tokens
	var refusal error
	err := a.db.InTx(ctx, func(tx pg.Tx) error {
		g, refusal = Tokens{}, nil
		f, err := pg.One[consentFamily](ctx, tx, `
			update consent g set redeemed_at = clock_timestamp() from client c, member m
			where g.code_hash = $1 and g.redeemed_at is null and g.code_expires_at > now() and c.id = g.client_id
				and m.id = g.member_id
			returning `+familyColumns, hash[:])
		if errors.Is(err, pg.ErrNoRow) {
			refusal = ErrInvalidGrant
			used, err := pg.Value[id.ID](ctx, tx, `select id from consent
				where code_hash = $1 and redeemed_at is not null`, hash[:])
			if errors.Is(err, pg.ErrNoRow) {
				return nil
			}
			if err == nil {
				err = endFamily(ctx, tx, used)
			}
			return err
		}
		if err != nil {
			return err
		}
		switch {
		case f.Over, f.ClientName != in.Client, in.RedirectURI != "" && in.RedirectURI != f.RedirectURI,
			answer != f.Challenge:
			refusal = ErrInvalidGrant
			return nil
		case in.Resource != "" && in.Resource != f.Resource:
			refusal = ErrInvalidTarget
			return nil
		}
		g, err = issue(ctx, tx, f, f.reach())
		return err
	})
	return g, errors.Join(err, refusal)
}

// endFamily revokes a consent and all its tokens.
func endFamily(ctx context.Context, tx pg.Tx, consent id.ID) error {
	_, err := pg.Exec(ctx, tx, `update consent set revoked_at = coalesce(revoked_at, clock_timestamp())
		where id = $1`, consent)
	if err == nil {
		_, err = pg.Exec(ctx, tx, `
			update token set revoked_at = clock_timestamp(), updated_at = clock_timestamp()
				where consent_id = $1 and revoked_at is null`, consent)
	}
	return err
}

// issue creates the next two tokens of a family.
func issue(ctx context.Context, tx pg.Tx, f consentFamily, scope op.Scope) (Tokens, error) {
	g := Tokens{accessPrefix + id.Base62(grantRandom), refreshPrefix + id.Base62(grantRandom), scope}
	access, refresh := sha256.Sum256([]byte(g.Access)), sha256.Sum256([]byte(g.Refresh))
	err := pg.Redraw(ctx, tx, "token_short_id", func(tx pg.Tx) error {
		one, other := id.New(), id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, actor_name, member_id,
				consent_id, expires_at)
			select t.id, t.short, t.kind, t.hash, '', @title, t.scope, 'agent', @title, @member, @consent,
				now() + make_interval(secs => t.life)
			from (values (@one::uuid, @one_short, 'access', @access::bytea, @scope, @access_life::float8),
				(@other::uuid, @other_short, 'refresh', @refresh::bytea, @family_scope, @refresh_life::float8)) t (id,
					short, kind, hash, scope, life)`, pg.Args{
			"one": one, "one_short": one.Short(), "access": access[:], "scope": scope.String(),
			"access_life": AccessLife.Seconds(),
			"other":       other, "other_short": other.Short(), "refresh": refresh[:], "family_scope": f.Scope,
			"refresh_life": RefreshLife.Seconds(),
			"title":        f.ClientTitle, "member": f.Member, "consent": f.ID,
		})
		return err
	})
	return g, err
}

// A Renewal is what a program sends to get the next tokens. A scope narrower than the consent's
// applies to this access token only.
type Renewal struct {
	Client, Refresh, Resource string
	Scope                     op.Scope // 0 means everything that was granted
}

// Refresh exchanges a refresh token, which is then used up, for the next tokens. If a refresh token
// is sent a second time, the first or the second sender has stolen it, so the whole family ends.
func (a *Auth) Refresh(ctx context.Context, in Renewal) (Tokens, error) {
	if !isGrant(in.Refresh, refreshPrefix) {
		return Tokens{}, ErrInvalidGrant
	}
	hash := sha256.Sum256([]byte(in.Refresh))
	type held struct {
		consentFamily
		Token   id.ID `db:"token"`
		Used    bool  `db:"used"`
		Expired bool  `db:"expired"`
	}
	var g Tokens
	var refusal error
	err := a.db.InTx(ctx, func(tx pg.Tx) error {
		g, refusal = Tokens{}, ErrInvalidGrant
		// Lock the consent before the token, in the same order as endFamily. Reading the token in
		// the same statement would return its state before the wait for the lock.
		consent, err := pg.Value[id.ID](ctx, tx, `select id from consent
			where id = (select consent_id from token where hash = $1 and kind = 'refresh') for update`, hash[:])
		if errors.Is(err, pg.ErrNoRow) {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := pg.One[held](ctx, tx, `
			select `+familyColumns+`, t.id as token, t.revoked_at is not null as used, t.expires_at <= now() as expired
			from token t join consent g on g.id = t.consent_id join client c on c.id = g.client_id
				join member m on m.id = g.member_id
			where t.hash = $1 and g.id = $2`, hash[:], consent)
		if err != nil {
			return err
		}
		switch {
		case f.Used:
			return endFamily(ctx, tx, consent)
		case f.Over, f.Expired, f.ClientName != in.Client:
			return nil
		case in.Resource != "" && in.Resource != f.Resource:
			refusal = ErrInvalidTarget
			return nil
		case in.Scope == 0 || in.Scope > f.reach():
			// A program that repeats its first request may have been granted less than it
			// requested. An error would take away even that, so it gets what was granted, and the
			// response states the scope.
			in.Scope = f.reach()
		}
		refusal = nil
		if _, err := pg.Exec(ctx, tx, `update token set revoked_at = clock_timestamp(),
			updated_at = clock_timestamp() where id = $1`, f.Token); err != nil {
			return err
		}
		if _, err := pg.Exec(ctx, tx, `update consent set refreshed_at = clock_timestamp()
			where id = $1`, consent); err != nil {
			return err
		}
		g, err = issue(ctx, tx, f.consentFamily, in.Scope)
		return err
	})
	return g, errors.Join(err, refusal)
}

func isGrant(text, prefix string) bool {
	random, ok := strings.CutPrefix(text, prefix)
	return ok && len(random) == grantRandom && id.IsBase62(random)
}

// Token returns the actor for this access token, sent to the resource at this address. The actor is
// an agent of the member who consented. As with Key, a revocation is effective from the next
// request.
func (a *Auth) Token(ctx context.Context, presented, resource string) (op.Actor, error) {
	if presented == "" {
		return op.Actor{}, errs.New(errs.MissingAPIKey,
			"send an access token (header Authorization: Bearer …); a program gets one from a signed-in member")
	}
	if !isGrant(presented, accessPrefix) {
		return op.Actor{}, errs.New(errs.InvalidAPIKey,
			"this is not an access token; API keys are for /mcp/key, and for /api/v1 in the header X-API-Key")
	}
	hash := sha256.Sum256([]byte(presented))
	type held struct {
		credential
		Consent  id.ID  `db:"consent_id"`
		Resource string `db:"resource"`
	}
	c, err := pg.One[held](ctx, a.db.Reserved(), `
		select t.id, t.scope, t.actor_type, coalesce(t.actor_name, t.name) as actor_name, t.member_id, m.role,
			t.expires_at <= now() as expired,
			t.revoked_at is not null or g.revoked_at is not null
				or m.deleted_at is not null as revoked, t.consent_id, g.resource
		from token t join consent g on g.id = t.consent_id join member m on m.id = t.member_id
			where t.hash = $1 and t.kind = 'access'`, hash[:])
	switch {
	case errors.Is(err, pg.ErrNoRow):
		return op.Actor{}, errs.New(errs.InvalidAPIKey, "unknown access token; ask the member to connect again")
	case err != nil:
		return op.Actor{}, op.Passing(err)
	case c.Resource != resource:
		return op.Actor{}, errs.New(errs.InvalidAPIKey, "this access token was issued for another address")
	case c.Revoked:
		return op.Actor{}, errs.New(errs.RevokedAPIKey, "this access token was revoked; ask the member to "+
			"connect again")
	case c.Expired:
		return op.Actor{}, errs.New(errs.ExpiredAPIKey,
			"this access token has expired; get a new one with the refresh token")
	}
	a.touch(c.ID)
	actor := c.actor(presented)
	actor.ID, actor.Token = c.Consent, &c.ID // all tokens of a family are one agent
	return actor, nil
}

// giveBackGrant revokes the whole family of the presented token, because a program that gives one
// token back needs no others. A value that is not a token is not an error.
func (a *Auth) giveBackGrant(ctx context.Context, presented string) error {
	if !isGrant(presented, accessPrefix) && !isGrant(presented, refreshPrefix) {
		return nil
	}
	hash := sha256.Sum256([]byte(presented))
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		consent, err := pg.Value[id.ID](ctx, tx, `select consent_id from token
			where hash = $1 and consent_id is not null`, hash[:])
		if errors.Is(err, pg.ErrNoRow) {
			return nil
		}
		if err == nil {
			err = endFamily(ctx, tx, consent)
		}
		return err
	})
}

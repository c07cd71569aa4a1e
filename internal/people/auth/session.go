package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A session ends after SessionIdle without use, and in any case after SessionLife.
const (
	SessionIdle = 12 * time.Hour
	SessionLife = 14 * 24 * time.Hour
)

// ProofLife is how long a sign-in counts as proof of identity. Some actions require it, so that
// nobody can do them in a browser that was left open.
const ProofLife = 5 * time.Minute

// SessionCookie is the cookie of a session. Its prefix makes browsers require HTTPS (or a loopback
// address) and this exact host.
const SessionCookie = "__Host-coffer"

// PlainCookie is the cookie of a session over plain HTTP. Browsers reject SessionCookie there.
const PlainCookie = "coffer-plain"

// plainMark begins the secret of a session that was opened over plain HTTP. Others on the network
// can read such a secret, so it must never be accepted as the secret of an HTTPS session.
const plainMark = "plain-"

// SessionIn returns the secret of the session that a browser presents, if there is one.
func SessionIn(r *http.Request) (secret string, ok bool) {
	for _, name := range []string{SessionCookie, PlainCookie} {
		if c, err := r.Cookie(name); err == nil {
			return c.Value, true
		}
	}
	return "", false
}

const sessionRandom = 43 // base62 characters: 256 bits

// A Session is a browser's signed-in state, as the member may see it.
type Session struct {
	ID         id.ID    `json:"id" db:"id"`
	ShortID    string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	UserID     id.ID    `json:"user_id" db:"member_id"`
	Name       string   `json:"name" db:"name" doc:"The browser, as it identifies itself"`
	CreatedAt  pg.Time  `json:"created_at" db:"created_at"`
	LastUsedAt *pg.Time `json:"last_used_at" db:"last_used_at" doc:"Accurate to the minute"`
	ExpiresAt  pg.Time  `json:"expires_at" db:"expires_at" doc:"Earlier if the session is not used"`
	// ProvedUntil is null as soon as actions with x-proof require another sign-in.
	ProvedUntil *pg.Time `json:"proved_until" db:"proved_until" doc:"Until when the last sign-in is recent enough for operations with x-proof; null if the member must sign in again"`
}

// sessionColumns contains ProofLife as an interval, because the statements that use it number their
// arguments differently. TestSigningIn checks that the two are equal.
const sessionColumns = `id, short_id, member_id, name, created_at, last_used_at, expires_at,
	case when proved_at > now() - interval '5 minutes' then proved_at + interval '5 minutes' end as proved_until`

// OpenSession creates a session for a member who has just proven who they are, and returns the
// secret that the browser keeps. Every sign-in creates a new session, which prevents session
// fixation.
func (a *Auth) OpenSession(ctx context.Context, e SignIn, browser string) (s Session, secret string, err error) {
	if e.MustReplace {
		return Session{}, "", errs.New(errs.Forbidden,
			"somebody else set this password; sign in at /login to choose your own")
	}
	secret = id.Base62(sessionRandom)
	if e.Plain {
		secret = plainMark + secret
	}
	hash := sha256.Sum256([]byte(secret))
	err = a.db.InTx(ctx, func(tx pg.Tx) error {
		if err := a.stands(ctx, tx, e); err != nil {
			return err
		}
		return pg.Redraw(ctx, tx, "token_short_id", func(tx pg.Tx) (err error) {
			newID := id.New()
			s, err = pg.One[Session](ctx, tx, `
				insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, member_id, expires_at,
					proved_at, proved_by)
				values (@id, @short, 'session', @hash, '', @name, 'full_access', 'user', @member,
					now() + make_interval(secs => @life),
					case when @ago::float8 >= 0 then now() - make_interval(secs => @ago) end, nullif(@by, ''))
				returning `+sessionColumns, pg.Args{
				"id": newID, "short": newID.Short(), "hash": hash[:], "name": browser, "member": e.User.ID,
				"life": SessionLife.Seconds(), "ago": e.Ago.Seconds(), "by": e.By,
			})
			return err
		})
	})
	return s, secret, err
}

// stands checks that the sign-in method is unchanged, and keeps it unchanged until the transaction
// ends: every change of a member's sign-in methods needs the member's lock, and then ends the
// sessions.
func (a *Auth) stands(ctx context.Context, tx pg.Tx, e SignIn) error {
	_, err := a.KeepUser(ctx, tx, e.User.ID.String())
	ok := e.as.IsZero() && e.By != Recovery
	if err == nil && e.By == Recovery {
		ok, err = pg.Value[bool](ctx, tx, `select exists (select from token
			where id = $1 and kind = 'recovery')`, e.login)
	} else if err == nil && !ok {
		ok, err = pg.Value[bool](ctx, tx, `select exists (select from login
			where id = $1 and updated_at = $2)`, e.login, e.as)
	}
	if errors.Is(err, pg.ErrNoRow) || err == nil && !ok {
		return errs.New(errs.InvalidLogin, "this sign-in method was just changed or removed; sign in again")
	}
	return err
}

// Session returns the actor of this session. A malformed secret costs no query; any other costs
// one.
func (a *Auth) Session(ctx context.Context, presented string) (op.Actor, error) {
	ended := errs.New(errs.InvalidLogin, "this session has ended; sign in again")
	random, plain := strings.CutPrefix(presented, plainMark)
	if len(random) != sessionRandom || !id.IsBase62(random) || plain && !a.AllowHTTP {
		return op.Actor{}, ended
	}
	hash := sha256.Sum256([]byte(presented))
	type held struct {
		credential
		Proved bool `db:"proved"`
	}
	c, err := pg.One[held](ctx, a.db.Reserved(), `
		select t.id, t.scope, t.actor_type, m.name as actor_name, t.member_id, m.role,
			t.expires_at <= now()
				or coalesce(t.last_used_at, t.created_at) <= now() - make_interval(secs => $2) as expired,
			t.revoked_at is not null or m.deleted_at is not null as revoked,
				coalesce(t.proved_at > now() - make_interval(secs => $3), false) as proved
		from token t join member m on m.id = t.member_id where t.hash = $1
			and t.kind = 'session'`, hash[:], SessionIdle.Seconds(), ProofLife.Seconds())
	if errors.Is(err, pg.ErrNoRow) || err == nil && (c.Revoked || c.Expired) {
		return op.Actor{}, ended
	}
	if err != nil {
		return op.Actor{}, op.Passing(err)
	}
	a.touch(c.ID)
	actor := c.actor(presented)
	actor.ID, actor.Session, actor.Proved, actor.Plain = *c.MemberID, &c.ID, c.Proved, plain
	if plain && actor.Role == op.RoleAdmin {
		actor.Role = op.RoleMember // an admin's role also allows reading more
	}
	return actor, nil
}

// CurrentSession returns the actor's session and its member.
func (a *Auth) CurrentSession(ctx context.Context, actor op.Actor) (Session, User, error) {
	s, err := pg.One[Session](ctx, a.db, `select `+sessionColumns+` from token where id = $1`, actor.Session)
	if err != nil {
		return Session{}, User{}, err
	}
	u, err := a.FindUser(ctx, a.db, s.UserID.String())
	return s, u, err
}

// CloseSession ends the actor's session.
func (a *Auth) CloseSession(ctx context.Context, actor op.Actor) error {
	if actor.Session == nil {
		return nil
	}
	_, err := pg.Exec(ctx, a.db, `update token set revoked_at = coalesce(revoked_at, now()), updated_at = now()
		where id = $1`, actor.Session)
	return err
}

// Sessions is a page of a member's sessions, newest first.
type Sessions struct {
	Sessions   []Session `json:"sessions"`
	NextCursor string    `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool      `json:"has_more"`
}

// Sessions returns a member's current sessions.
func (a *Auth) Sessions(ctx context.Context, q pg.Querier, in ListLogins) (Sessions, error) {
	rows, next, err := ofMember(ctx, a, q, in, "sessions",
		func(member id.ID, before *string, limit int) ([]Session, error) {
			return pg.All[Session](ctx, q, `
			select `+sessionColumns+` from token
			where member_id = $1 and kind = 'session' and revoked_at is null and expires_at > now()
				and coalesce(last_used_at, created_at) > now() - make_interval(secs => $4)
				and ($2::uuid is null or id < $2::uuid) order by id desc
					limit $3`, member, before, limit, SessionIdle.Seconds())
		}, func(s Session) id.ID { return s.ID })
	return Sessions{rows, next, next != ""}, err
}

// SessionRef identifies a session.
type SessionRef struct {
	UserID    string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	SessionID string `json:"session_id" minLength:"1" doc:"The session's UUID or short id"`
}

// RevokeSession ends one of a member's sessions.
func (a *Auth) RevokeSession(ctx context.Context, tx pg.Tx, in SessionRef) (op.Deleted, error) {
	u, err := a.User(ctx, tx, UserRef{in.UserID})
	if err == nil {
		err = op.Owned(ctx, nil, "agents have no sessions and can't end those of others")
	}
	if err != nil {
		return op.Deleted{}, err
	}
	deleted, err := endSession(ctx, tx, u.ID, in.SessionID)
	return deleted, pg.Found(err, "session", "{session.list} lists them")
}

// endSession ends a session of the member.
func endSession(ctx context.Context, tx pg.Tx, member id.ID, ref string) (op.Deleted, error) {
	args := append([]any{member}, pg.RefTo(ref).IDArgs()...)
	ended, err := pg.Value[id.ID](ctx, tx, `
		update token set revoked_at = coalesce(revoked_at, clock_timestamp()), updated_at = clock_timestamp()
		where member_id = $1 and kind = 'session' and (id = $2 or short_id = $3) returning id`, args...)
	return op.Deleted{Deleted: true, ID: ended}, err
}

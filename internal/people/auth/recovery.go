package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Recovery is the sign-in method of a member who has lost all other methods: ten codes on paper,
// each valid once. They are stored as tokens, not as logins, because they are not for daily use. A
// member's last login therefore counts as the last sign-in method even if the member has codes.
const Recovery = "recovery"

const (
	recoveryCodes   = 10
	recoveryLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // 32 characters, five bits each, without those that look alike
	recoveryLength  = 16                                 // 80 bits
)

// NewCodes creates ten codes for the signed-in member and returns them, which is the only time that
// they are shown. They replace the earlier codes.
func (a *Auth) NewCodes(ctx context.Context, actor op.Actor) ([]string, error) {
	if err := op.Proven(actor); err != nil {
		return nil, err
	}
	codes, hashes := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		codes[i] = newCode()
		hashes[i] = codeHash(codes[i])
	}
	err := a.db.InTx(ctx, func(tx pg.Tx) error {
		// The lock makes concurrent calls wait. The next call replaces these codes.
		if _, _, err := a.lockUser(ctx, tx, actor.Member.String()); err != nil {
			return err
		}
		other, err := pg.Value[bool](ctx, tx, `select exists (select from login where member_id = $1)`, actor.Member)
		if err != nil {
			return err
		}
		if !other { // codes are removed with the last sign-in method, so a member without one must not get codes
			return errs.New(errs.Conflict,
				"recovery codes need another sign-in method, and you have none; ask an admin for a password first")
		}
		if err := endCodes(ctx, tx, *actor.Member); err != nil {
			return err
		}
		return pg.Redraw(ctx, tx, "token_short_id", func(tx pg.Tx) error {
			ids, shorts := make([]id.ID, recoveryCodes), make([]string, recoveryCodes)
			for i := range ids {
				ids[i] = id.New()
				shorts[i] = ids[i].Short()
			}
			_, err := pg.Exec(ctx, tx, `
				insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, member_id)
				select c.id, c.short, 'recovery', c.hash, '', 'recovery code', 'read_only', 'user', $4
				from unnest($1::uuid[], $2::text[], $3::bytea[]) c (id, short,
					hash)`, ids, shorts, hashes, actor.Member)
			return err
		})
	})
	return codes, err
}

// newCode returns a new code in the form that a person writes down.
func newCode() string {
	random := make([]byte, recoveryLength)
	_, _ = rand.Read(random) // never fails
	var b strings.Builder
	for i, r := range random {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(recoveryLetters[r%32])
	}
	return b.String()
}

// codeHash returns the stored hash of a code, regardless of its spelling, or nil if it cannot be a
// code.
func codeHash(code string) []byte {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == 'O':
			return '0'
		case r == 'I' || r == 'L':
			return '1'
		case strings.ContainsRune(recoveryLetters, r):
			return r
		}
		return -1
	}, strings.ToUpper(code))
	if len(plain) != recoveryLength {
		return nil
	}
	sum := sha256.Sum256([]byte("recovery " + plain))
	return sum[:]
}

// Recover signs in the member who has this code, and uses the code up. If several callers present
// it at once, one succeeds.
func (a *Auth) Recover(ctx context.Context, presented, address string) (SignIn, error) {
	if err := a.Knock(ctx, Recovery, address); err != nil {
		return SignIn{}, err
	}
	type code struct {
		ID     id.ID `db:"id"`
		Member id.ID `db:"member_id"`
	}
	hash := codeHash(presented)
	used, u, err := code{}, User{}, pg.ErrNoRow
	if hash != nil {
		used, err = pg.One[code](ctx, a.db, `
			update token set revoked_at = clock_timestamp(), last_used_at = clock_timestamp(),
				updated_at = clock_timestamp()
			where hash = $1 and kind = 'recovery' and revoked_at is null returning id, member_id`, hash)
	}
	if err == nil {
		u, err = a.FindUser(ctx, a.db, used.Member.String())
	}
	if errors.Is(err, pg.ErrNoRow) {
		return SignIn{}, errs.New(errs.InvalidLogin, "this is not a valid recovery code, or it was already used")
	}
	return SignIn{User: u, By: Recovery, login: used.ID}, err
}

// endCodes ends a member's recovery codes. It deletes them instead of revoking them, so that it
// also ends a sign-in with a code that is in progress (see stands).
func endCodes(ctx context.Context, tx pg.Tx, member id.ID) error {
	_, err := pg.Exec(ctx, tx, `delete from token where member_id = $1 and kind = 'recovery'`, member)
	return err
}

// endCodesUnlessOwn ends a member's recovery codes if somebody else changes the member's sign-in
// methods, or if no other sign-in method is left. A member who changes their own password keeps the
// codes.
func endCodesUnlessOwn(ctx context.Context, tx pg.Tx, member id.ID) error {
	left, err := pg.Value[bool](ctx, tx, `select exists (select from login where member_id = $1)`, member)
	if err != nil || left && ownSession(ctx, member) {
		return err
	}
	return endCodes(ctx, tx, member)
}

// CodesRef identifies the member who owns the recovery codes.
type CodesRef struct {
	UserID string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
}

// DropCodes removes all recovery codes of a member.
func (a *Auth) DropCodes(ctx context.Context, tx pg.Tx, in CodesRef) (op.Deleted, error) {
	u, _, err := a.lockUser(ctx, tx, in.UserID)
	if err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: u.ID}, endCodes(ctx, tx, u.ID)
}

// EndOwnCodes removes the recovery codes of the signed-in member.
func (a *Auth) EndOwnCodes(ctx context.Context, actor op.Actor) error {
	if err := op.Proven(actor); err != nil {
		return err
	}
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.DropCodes(ctx, tx, CodesRef{actor.Member.String()})
		return err
	})
}

// codesLeft returns how many unused codes a member has.
func codesLeft(ctx context.Context, q pg.Querier, member id.ID) (int, error) {
	return pg.Value[int](ctx, q, `select count(*)::integer from token
		where member_id = $1 and kind = 'recovery' and revoked_at is null`, member)
}

package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Recovery is the way in of a member who has lost all others: ten codes that were written down, each good once.
// They stand among the tokens and not among the logins: nobody signs in with them from day to day, and the last login stays the last while there are codes.
const Recovery = "recovery"

const (
	recoveryCodes   = 10
	recoveryLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // none that is taken for another; 32 of them, five bits each
	recoveryLength  = 16                                 // 80 bits
)

// NewCodes gives the member who is signed in ten codes, in place of those they had, and answers them this once.
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
		if _, _, err := a.lockUser(ctx, tx, actor.Member.String()); err != nil { // whoever makes codes at the same time comes after, and ends these
			return err
		}
		if _, err := pg.Exec(ctx, tx, `delete from token where member_id = $1 and kind = 'recovery'`, actor.Member); err != nil {
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
				from unnest($1::uuid[], $2::text[], $3::bytea[]) c (id, short, hash)`, ids, shorts, hashes, actor.Member)
			return err
		})
	})
	return codes, err
}

// newCode is a code as a person writes it down.
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

// codeHash is what is stored of a code; how it is written does not matter. What cannot be one has none.
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

// Recover lets the member in whose code this is, and uses it up. Of several who present it at once one gets in.
func (a *Auth) Recover(ctx context.Context, code, address string) (Entry, error) {
	if err := a.Knock(ctx, Recovery, address); err != nil {
		return Entry{}, err
	}
	hash := codeHash(code)
	u, err := User{}, pg.ErrNoRow
	if hash != nil {
		u, err = pg.One[User](ctx, a.db, `
			with used as (
				update token set revoked_at = clock_timestamp(), last_used_at = clock_timestamp(), updated_at = clock_timestamp()
				where hash = $1 and kind = 'recovery' and revoked_at is null returning member_id)
			select `+userColumns+` from member where id = (select member_id from used) and deleted_at is null`, hash)
	}
	if errors.Is(err, pg.ErrNoRow) {
		return Entry{}, errs.New(errs.InvalidLogin, "this is no recovery code, or it was used already")
	}
	return Entry{User: u, By: Recovery}, err
}

// codesLeft is how many codes a member has that are still good.
func (a *Auth) codesLeft(ctx context.Context, member id.ID) (int, error) {
	return pg.Value[int](ctx, a.db, `select count(*)::integer from token where member_id = $1 and kind = 'recovery' and revoked_at is null`, member)
}

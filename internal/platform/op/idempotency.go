package op

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// IdempotencyWindow is how long an answer is stored for a repeated key.
const IdempotencyWindow = 24 * time.Hour

// MaxIdempotencyKey is the maximum length of a key.
const MaxIdempotencyKey = 255

// Replayable reports whether the op honors Idempotency-Key: every POST that creates or triggers
// something.
func (o *Op) Replayable() bool { return o.Writes && o.Method == http.MethodPost }

// cover returns the cipher that encrypts an answer for the caller that received it. The answer may
// show a secret once (a new key), and a copy of the database must not contain it.
func cover(a Actor, key string) (cipher.AEAD, []byte, error) {
	block, err := aes.NewCipher(a.Bond[:])
	if err != nil {
		return nil, nil, fmt.Errorf("seal stored response: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, nil, fmt.Errorf("seal stored response: %w", err)
	}
	return aead, []byte(a.credential().String() + " " + key), nil
}

// keyName is the tool's argument that corresponds to the REST header.
const keyName = "idempotency_key"

// Once gives the op's tool an idempotency key, as every POST over REST has one.
func Once(o *Op) *Op {
	limit := MaxIdempotencyKey
	o.toolIn = new(*o.input(Tool))
	o.toolIn.Props = append(slices.Clone(o.toolIn.Props), Prop{Name: keyName, Schema: &Schema{
		Type: "string", MaxLen: &limit, Description: "Repeating a call with the same key has no second effect",
		Agent: "-",
	}})
	return o
}

// keyed moves the key from valid arguments to the call.
func (c *Call) keyed(o *Op, args map[string]any) {
	if key, ok := args[keyName].(string); ok && c.Surface == Tool && o.In.Prop(keyName) == nil {
		c.IdempotencyKey = key
		delete(args, keyName)
	}
}

type storedAnswer struct {
	Fingerprint []byte `db:"fingerprint"`
	Status      int    `db:"status"`
	ETag        string `db:"etag"`
	Body        []byte `db:"body"`
	Change      *id.ID `db:"change_id"`
	Fresh       bool   `db:"fresh"`
}

// once runs the op unless this actor's key already has an answer, and stores the answer in the
// transaction of the effect: either both exist or neither does. An error (4xx) is an answer too;
// its effects are rolled back to the savepoint, and only the error is stored.
func once(ctx context.Context, tx pg.Tx, o *Op, c *Call, args input) (Answer, error) {
	if key := c.IdempotencyKey; !utf8.ValidString(key) || utf8.RuneCountInString(key) > MaxIdempotencyKey {
		return Answer{}, errs.New(errs.ValidationError, "Idempotency-Key must be text of at most %d characters",
			MaxIdempotencyKey)
	}
	// The MAC is keyed with a secret that only the caller has. Arguments may contain a password,
	// which someone with a copy of the database could guess from a plain hash.
	mac := hmac.New(sha256.New, c.Actor.Bond[:])
	fmt.Fprintf(mac, "%s\x00%s\x00%s", c.Surface, o.Route, args.json)
	sum := [sha256.Size]byte(mac.Sum(nil))
	locked, err := pg.Value[bool](ctx, tx, `select pg_try_advisory_xact_lock(hashtextextended($1,
		0))`, c.Actor.credential().String()+" "+c.IdempotencyKey)
	if err != nil {
		return Answer{}, err
	}
	if !locked {
		return Answer{}, errs.New(errs.IdempotencyRunning,
			"the first call with this Idempotency-Key is still running; try again in a moment")
	}
	old, err := pg.One[storedAnswer](ctx, tx, `
		select fingerprint, status, etag, body, change_id, created_at > now() - make_interval(secs => $3) as fresh
		from idempotency where actor_id = $1
			and key = $2`, c.Actor.credential(), c.IdempotencyKey, IdempotencyWindow.Seconds())
	switch {
	case err == nil && old.Fresh:
		return old.replay(c, [32]byte(old.Fingerprint) == sum)
	case err != nil && !errors.Is(err, pg.ErrNoRow):
		return Answer{}, err
	}
	var answer Answer
	err = pg.Savepoint(ctx, tx, func(sp pg.Tx) error {
		v, err := o.run(ctx, sp, args)
		if err != nil {
			return err
		}
		answer, err = o.answerTo(c, v)
		answer.Change = c.changed.id
		return err
	})
	refusal, refused := errors.AsType[*errs.Error](err)
	if refused && refusal.Code.Status() < http.StatusInternalServerError && refusal.Code != errs.RateLimited {
		answer = Answer{Status: refusal.Code.Status()}
		if answer.Body, err = json.Marshal(errs.Public(c.words.On(c.reader(), refusal),
			c.RequestID).Face()); err != nil {
			return Answer{}, fmt.Errorf("print error: %w", err)
		}
	} else if err != nil {
		return Answer{}, err
	}
	aead, place, err := cover(c.Actor, c.IdempotencyKey)
	if err != nil {
		return Answer{}, err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into idempotency (actor_id, key, fingerprint, status, etag, body, change_id)
		values (@actor, @key, @fingerprint, @status, @etag, @body, @change)
		on conflict (actor_id, key) do update set
			fingerprint = excluded.fingerprint, status = excluded.status, etag = excluded.etag, body = excluded.body,
				change_id = excluded.change_id, created_at = now()`,
		pg.Args{
			"actor": c.Actor.credential(), "key": c.IdempotencyKey, "fingerprint": sum[:], "status": answer.Status,
			"etag": answer.ETag, "change": answer.Change, "body": aead.Seal(nil, nil, answer.Body, place),
		})
	if err != nil {
		return Answer{}, err
	}
	return answer, nil
}

func (s storedAnswer) replay(c *Call, same bool) (Answer, error) {
	if !same {
		return Answer{}, errs.New(errs.IdempotencyConflict,
			"this Idempotency-Key was used for another call; use a new key for a new call")
	}
	aead, place, err := cover(c.Actor, c.IdempotencyKey)
	if err != nil {
		return Answer{}, err
	}
	body, err := aead.Open(nil, nil, s.Body, place)
	if err != nil {
		return Answer{}, fmt.Errorf("unseal stored response: %w", err)
	}
	return Answer{Status: s.Status, Body: body, ETag: s.ETag, Change: s.Change, Replayed: true}, nil
}

// ForgetAnswers deletes every stored answer past its window, one batch at most, and returns how
// many it deleted.
func ForgetAnswers(ctx context.Context, q pg.Querier) (int64, error) {
	return pg.Exec(ctx, q, `
		delete from idempotency where (actor_id, key) in (
			select actor_id, key from idempotency where created_at < now() - make_interval(secs => $1)
				limit 5000 for update skip locked)`,
		IdempotencyWindow.Seconds())
}

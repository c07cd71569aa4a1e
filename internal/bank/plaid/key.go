package plaid

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"sync"
	"time"

	"coffer/internal/bank"
)

const (
	keyFresh  = time.Hour      // then a known key is requested again: it may have been revoked
	keyStale  = 24 * time.Hour // then it is no longer trusted if Plaid cannot be reached
	askAgain  = time.Minute    // pause between two requests for unknown keys
	keyLength = 32             // bytes of a coordinate on P-256
	noSuchKey = "INVALID_WEBHOOK_VERIFICATION_KEY_ID"
)

// A keyring holds the keys with which Plaid signs webhooks. Anyone can invent a key id, so requests
// for unknown keys are limited to one per askAgain. If the limit rejects a genuine delivery, Plaid
// sends it again.
type keyring struct {
	mu    sync.Mutex
	keys  map[string]*key
	asked time.Time // when an unknown key was last requested
	about string    // the id of the key that is being requested
	done  chan struct{}
}

type key struct {
	public *ecdsa.PublicKey
	at     time.Time // when Plaid last confirmed it
	tried  time.Time // when it was last requested again
}

// find returns the key with that id, or nil if Plaid has no such key in use. An error means that
// the answer is not known.
func (p *Plaid) find(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	now := p.now()
	r := &p.keys
	r.mu.Lock()
	known := r.keys[kid]
	switch {
	case known != nil && now.Sub(known.at) < keyFresh, known != nil && now.Sub(known.at) < keyStale &&
		now.Sub(known.tried) < askAgain:
		defer r.mu.Unlock()
		return known.public, nil
	case known == nil && r.about == kid: // several deliveries with a new key arrive together
		done := r.done
		r.mu.Unlock()
		select {
		case <-done:
			return p.find(ctx, kid)
		case <-ctx.Done():
			return nil, unknownYet()
		}
	case known == nil && !r.asked.IsZero() && now.Sub(r.asked) < askAgain:
		defer r.mu.Unlock()
		return nil, unknownYet()
	case known == nil:
		r.asked, r.about, r.done = now, kid, make(chan struct{})
		defer r.answered(r.done)
	default:
		known.tried = now
	}
	r.mu.Unlock()

	// A caller that goes away must not cancel the request for all others.
	public, err := p.fetchKey(context.WithoutCancel(ctx), kid)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && bank.Classify(err).Code != noSuchKey {
		if known != nil && now.Sub(known.at) < keyStale {
			return known.public, nil
		}
		return nil, err
	}
	delete(r.keys, kid)
	if err != nil || public == nil {
		return nil, nil
	}
	if r.keys == nil {
		r.keys = make(map[string]*key)
	}
	for old, k := range r.keys {
		if now.Sub(k.at) >= keyStale {
			delete(r.keys, old)
		}
	}
	r.keys[kid] = &key{public, now, now}
	return public, nil
}

func unknownYet() error {
	return &bank.Error{
		Provider: name, Class: bank.Later, Code: "KEY_LOOKUP_LIMITED",
		Advice: "the key that signed this webhook event is unknown; send the event again", RetryAfter: askAgain,
	}
}

// answered wakes the callers that wait for the response about an unknown key.
func (r *keyring) answered(done chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == done {
		r.about = ""
	}
	close(done)
}

// fetchKey requests a key from Plaid. It returns nil for a key that has expired or is not for
// ES256.
func (p *Plaid) fetchKey(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	var out struct {
		Key struct {
			Alg, Crv, Kid, Kty, Use, X, Y string
			ExpiredAt                     *int64 `json:"expired_at"`
		} `json:"key"`
	}
	if err := p.post(ctx, "/webhook_verification_key/get", map[string]string{"key_id": kid}, &out,
		10*time.Second); err != nil {
		return nil, err
	}
	k := out.Key
	if k.Alg != "ES256" || k.Crv != "P-256" || k.Kty != "EC" || k.Use != "sig" || k.Kid != kid || k.ExpiredAt != nil {
		return nil, nil
	}
	return point(k.X, k.Y), nil
}

// point returns the key with these coordinates, or nil if they are not on the curve.
func point(x, y string) *ecdsa.PublicKey {
	raw := []byte{4} // uncompressed
	for _, s := range []string{x, y} {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(b) != keyLength {
			return nil
		}
		raw = append(raw, b...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return nil
	}
	return public
}

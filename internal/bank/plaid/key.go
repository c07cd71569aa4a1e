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
	keyFresh  = time.Hour      // after which a known key is asked for again: it may have been revoked
	keyStale  = 24 * time.Hour // after which it is trusted no longer where Plaid cannot be asked
	askAgain  = time.Minute    // between two questions about keys that are not known
	keyLength = 32             // bytes of a coordinate on P-256
	noSuchKey = "INVALID_WEBHOOK_VERIFICATION_KEY_ID"
)

// A keyring holds the keys that Plaid signs webhooks with. Anyone can make up a key id, so that
// questions about unknown ones are rationed: a true delivery that meets an empty ration is sent
// again by Plaid.
type keyring struct {
	mu    sync.Mutex
	keys  map[string]*key
	asked time.Time // when an unknown key was last asked for
	about string    // which one that is, while the answer is not there
	done  chan struct{}
}

type key struct {
	public *ecdsa.PublicKey
	at     time.Time // when Plaid last vouched for it
	tried  time.Time // when it was last asked for again
}

// find returns the key with that id, or nil if Plaid has none that is still in use. An error means
// that nothing is known.
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
	case known == nil && r.about == kid: // the first deliveries of a new key come together
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

// answered lets those go on who wait for the answer about an unknown key.
func (r *keyring) answered(done chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == done {
		r.about = ""
	}
	close(done)
}

// fetchKey asks Plaid; a key that has expired, or is no key for ES256, is nil.
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

// point is the key with these coordinates, nil if they are none of the curve's.
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

package banks

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// A Delivery is a webhook that is ready to be sent. If it is sent twice, it is the same event.
type Delivery struct {
	Header http.Header
	Body   []byte
}

// Send posts the delivery. Any status except 200 is an error, after which a provider would send it
// again.
func (d Delivery) Send(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Body))
	if err != nil {
		return err
	}
	req.Header = d.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("banks: the webhook returned status %d", resp.StatusCode)
	}
	return nil
}

type signer struct {
	kid     string
	private *ecdsa.PrivateKey
	made    time.Time
	expired time.Time
}

// signers are the keys of an environment; the last one signs.
type signers []*signer

// RotateKey creates a new key for webhooks and expires the previous one.
func (p *Plaid) RotateKey() error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.keys); n > 0 {
		p.keys[n-1].expired = now
	}
	p.keys = append(p.keys, &signer{kid: uuid("key", len(p.keys), now.UnixNano()), private: private, made: now})
	return nil
}

func (p *Plaid) keyGet(in request) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.keys {
		if k.kid != in.KeyID {
			continue
		}
		point, err := k.private.PublicKey.Bytes()
		if err != nil {
			return nil, err
		}
		var expired any
		if !k.expired.IsZero() {
			expired = k.expired.Unix()
		}
		return map[string]any{"key": map[string]any{
			"alg": "ES256", "crv": "P-256", "kty": "EC", "use": "sig", "kid": k.kid, "created_at": k.made.Unix(),
			"expired_at": expired,
			"x":          base64.RawURLEncoding.EncodeToString(point[1:33]),
			"y":          base64.RawURLEncoding.EncodeToString(point[33:]),
		}, "request_id": "key"}, nil
	}
	return nil, coded("INVALID_WEBHOOK_VERIFICATION_KEY_ID")
}

// Webhook creates a signed delivery about an item, with further fields if there are any.
func (p *Plaid) Webhook(itemID, kind, code string, more map[string]any) (Delivery, error) {
	fields := map[string]any{"webhook_type": kind, "webhook_code": code, "environment": "sandbox"}
	if itemID != "" {
		fields["item_id"] = itemID
	}
	maps.Copy(fields, more)
	body, err := json.MarshalIndent(fields, "", "  ") // Plaid signs bodies indented by two
	if err != nil {
		return Delivery{}, err
	}
	return p.Sign(body)
}

// Sign signs a body with the current time, as Plaid does.
func (p *Plaid) Sign(body []byte) (Delivery, error) {
	now := p.Now()
	p.mu.Lock()
	k := p.keys[len(p.keys)-1]
	p.mu.Unlock()
	sum := sha256.Sum256(body)
	head := fmt.Sprintf(`{"alg":"ES256","kid":%q,"typ":"JWT"}`, k.kid)
	claims := fmt.Sprintf(`{"iat":%d,"request_body_sha256":%q}`, now.Unix(), hex.EncodeToString(sum[:]))
	signed := base64.RawURLEncoding.EncodeToString([]byte(head)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(claims))
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, digest[:])
	if err != nil {
		return Delivery{}, err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return Delivery{http.Header{
		"Content-Type":       {"application/json"},
		"Plaid-Verification": {signed + "." + base64.RawURLEncoding.EncodeToString(signature)},
	}, body}, nil
}

// Fire sends a webhook about an item to the address with which the item was linked. It sends none
// about transactions before the item's first sync, and none if there is no address.
func (p *Plaid) Fire(ctx context.Context, itemID, kind, code string, more map[string]any) error {
	it := p.byID(itemID)
	if it == nil {
		return fmt.Errorf("banks: there is no item %s", itemID)
	}
	it.book.mu.Lock()
	silent := it.webhook == "" || kind == "TRANSACTIONS" && !it.synced
	it.book.mu.Unlock()
	if silent {
		return nil
	}
	d, err := p.Webhook(itemID, kind, code, more)
	if err != nil {
		return err
	}
	return d.Send(ctx, it.webhook)
}

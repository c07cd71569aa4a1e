package plaid

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"coffer/internal/bank"
)

const (
	tokenAge  = 5 * time.Minute
	tokenSkew = time.Minute // how far Plaid's clock may be ahead of coffer's
	maxToken  = 4096
)

// Verify implements [bank.Webhooker]: the header is an ES256 token that contains the hash of the
// exact body.
func (p *Plaid) Verify(ctx context.Context, h http.Header, body []byte) (bank.Event, error) {
	issued, err := p.verify(ctx, h.Values("Plaid-Verification"), body)
	if err != nil {
		return bank.Event{}, err
	}
	event, err := readEvent(body)
	if err != nil {
		return bank.Event{}, err
	}
	// Plaid sends equal bodies; only the time of signing distinguishes two of them.
	sum := sha256.Sum256(body)
	event.ID = hex.EncodeToString(sum[:]) + "." + strconv.FormatInt(issued, 10)
	return event, nil
}

// verify returns the time at which Plaid signed that body.
func (p *Plaid) verify(ctx context.Context, tokens []string, body []byte) (int64, error) {
	if len(tokens) != 1 || len(tokens[0]) > maxToken {
		return 0, bank.ErrForged
	}
	parts := strings.Split(tokens[0], ".")
	if len(parts) != 3 {
		return 0, bank.ErrForged
	}
	var head struct{ Alg, Kid string }
	var claims struct {
		IssuedAt int64  `json:"iat"`
		Body     string `json:"request_body_sha256"`
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(signature) != 2*keyLength || !segment(parts[0], &head) || !segment(parts[1], &claims) {
		return 0, bank.ErrForged
	}
	// The checks that need no call come first, because getting the key may need one.
	sum := sha256.Sum256(body)
	age := p.now().Sub(time.Unix(claims.IssuedAt, 0))
	if head.Alg != "ES256" || !bank.IsID(head.Kid) || age > tokenAge || age < -tokenSkew ||
		subtle.ConstantTimeCompare([]byte(claims.Body), []byte(hex.EncodeToString(sum[:]))) != 1 {
		return 0, bank.ErrForged
	}
	public, err := p.find(ctx, head.Kid)
	if err != nil {
		return 0, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:keyLength]), new(big.Int).SetBytes(signature[keyLength:])
	if public == nil || !ecdsa.Verify(public, digest[:], r, s) {
		return 0, bank.ErrForged
	}
	return claims.IssuedAt, nil
}

// segment decodes a part of a token.
func segment(s string, out any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && json.Unmarshal(raw, out) == nil
}

type webhook struct {
	Type       string              `json:"webhook_type"`
	Code       string              `json:"webhook_code"`
	ItemID     bank.OptionalString `json:"item_id"`
	AccountID  bank.OptionalString `json:"account_id"`
	Consent    bank.OptionalString `json:"consent_expiration_time"`
	Disconnect bank.OptionalString `json:"disconnect_time"`
	LinkToken  bank.OptionalString `json:"link_token"`
	Error      *failure            `json:"error"`
}

// effects lists the webhooks that cause an action; all others are only stored.
var effects = map[string]bank.Effect{
	"TRANSACTIONS.SYNC_UPDATES_AVAILABLE": bank.Sync,
	// Sent in addition to the one above, for clients that sync by date.
	"TRANSACTIONS.INITIAL_UPDATE":    bank.Sync,
	"TRANSACTIONS.HISTORICAL_UPDATE": bank.Sync,
	"TRANSACTIONS.DEFAULT_UPDATE":    bank.Sync,
	"ITEM.PENDING_EXPIRATION":        bank.Expiring,
	"ITEM.PENDING_DISCONNECT":        bank.Expiring,
	"ITEM.LOGIN_REPAIRED":            bank.Repaired,
	"ITEM.USER_PERMISSION_REVOKED":   bank.Revoked,
	"ITEM.USER_ACCOUNT_REVOKED":      bank.AccountGone,
	"ITEM.NEW_ACCOUNTS_AVAILABLE":    bank.NewAccounts,
	"LINK.SESSION_FINISHED":          bank.SessionDone,
	"LINK.ITEM_ADD_RESULT":           bank.SessionDone,
}

// readEvent reads a body that Plaid signed.
func readEvent(body []byte) (bank.Event, error) {
	var w webhook
	if json.Unmarshal(body, &w) != nil {
		return bank.Event{}, bank.ErrForged
	}
	e := bank.Event{Type: bank.Code(w.Type + "." + w.Code)}
	if bank.IsID(string(w.ItemID)) {
		e.ConnectionID = string(w.ItemID)
	}
	if bank.IsID(string(w.AccountID)) {
		e.AccountID = string(w.AccountID)
	}
	e.Effect = effects[e.Type]
	switch e.Effect {
	case bank.Expiring:
		e.Code, e.ExpiresAt = bank.Code(w.Code), readTime(w.Consent)
		if e.ExpiresAt.IsZero() {
			e.ExpiresAt = readTime(w.Disconnect)
		}
	case bank.Revoked:
		e.Code, e.Advice = "USER_PERMISSION_REVOKED", ended.advice
	case bank.SessionDone:
		if bank.IsID(string(w.LinkToken)) {
			e.Session = string(w.LinkToken)
		}
	}
	if e.Type == "ITEM.ERROR" && w.Error != nil {
		report(&e, *w.Error)
	}
	return e, nil
}

// report sets the effect of an item's error. A temporary error causes a sync, which
// shows whether the error is still there.
func report(e *bank.Event, f failure) {
	why := judge(f, http.StatusBadRequest)
	e.Code, e.Advice = why.Code, why.Advice
	switch {
	case why.Class == bank.Reauth:
		e.Effect = bank.NeedsReauth
	case why.Revoked:
		e.Effect = bank.Revoked
	default:
		e.Effect, e.Code, e.Advice = bank.Sync, "", ""
	}
}

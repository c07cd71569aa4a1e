package teller

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"coffer/internal/bank"
)

const (
	deliveryAge  = 3 * time.Minute
	deliverySkew = time.Minute // how far Teller's clock may be ahead of coffer's
	maxSignature = 2048
)

// Verify implements [bank.Webhooker]: an HMAC over the timestamp and the body, with any secret that
// has not expired.
func (t *Teller) Verify(_ context.Context, h http.Header, body []byte) (bank.Event, error) {
	headers := h.Values("Teller-Signature")
	if len(headers) != 1 || len(headers[0]) > maxSignature {
		return bank.Event{}, bank.ErrForged
	}
	moment, signatures := "", [][]byte(nil)
	for part := range strings.SplitSeq(headers[0], ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "t":
			if moment != "" {
				return bank.Event{}, bank.ErrForged
			}
			moment = value
		case "v1":
			if s, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, s)
			}
		}
	}
	seconds, err := strconv.ParseInt(moment, 10, 64)
	age := t.now().Sub(time.Unix(seconds, 0))
	if err != nil || age > deliveryAge || age < -deliverySkew || !t.sealed(moment, body, signatures) {
		return bank.Event{}, bank.ErrForged
	}
	return readEvent(body)
}

// sealed reports whether one of the signatures was made with one of coffer's secrets.
func (t *Teller) sealed(moment string, body []byte, signatures [][]byte) bool {
	ok := false
	for _, secret := range t.secrets() {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(moment + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, s := range signatures {
			ok = hmac.Equal(s, want) || ok
		}
	}
	return ok
}

// readEvent reads a body that Teller signed.
func readEvent(body []byte) (bank.Event, error) {
	var w struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Payload struct {
			EnrollmentID bank.OptionalString `json:"enrollment_id"`
			AccountID    bank.OptionalString `json:"account_id"`
			Reason       bank.OptionalString `json:"reason"`
		} `json:"payload"`
	}
	if json.Unmarshal(body, &w) != nil || !bank.IsID(w.ID) {
		return bank.Event{}, bank.ErrForged
	}
	e := bank.Event{ID: w.ID, Type: bank.Code(w.Type)}
	if bank.IsID(string(w.Payload.EnrollmentID)) {
		e.ConnectionID = string(w.Payload.EnrollmentID)
	}
	if bank.IsID(string(w.Payload.AccountID)) {
		e.AccountID = string(w.Payload.AccountID)
	}
	switch w.Type {
	case "transactions.processed":
		e.Effect = bank.Sync
	case disconnected:
		why := judge("enrollment."+string(w.Payload.Reason), http.StatusNotFound)
		if why.Class != bank.Reauth {
			why = judge(disconnected, http.StatusNotFound)
		}
		e.Effect, e.Code, e.Advice = bank.NeedsReauth, why.Code, why.Advice
	}
	return e, nil
}

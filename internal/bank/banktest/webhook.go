package banktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"coffer/internal/bank"
)

// forgeries is the number of forged deliveries.
const forgeries = 10_000

// webhooks checks that a genuine delivery is accepted, that its repetition has the same event id,
// and that old or changed deliveries are rejected.
func webhooks(ctx context.Context, s Subject) error {
	w, ok := s.Provider.(bank.Webhooker)
	if !ok {
		return nil
	}
	header, body := s.Bank.Webhook(0)
	first, err := w.Verify(ctx, header, body)
	if err != nil {
		return err
	}
	again, err := w.Verify(ctx, header, body)
	if err != nil || first.ID == "" || again.ID != first.ID || first.ConnectionID == "" || first.Effect != bank.Sync {
		return fmt.Errorf("events of one delivery are %+v and %+v, %w", first, again, err)
	}
	for age := 6 * time.Minute; age < 200*24*time.Hour; age += age / 7 {
		for _, a := range []time.Duration{age, -age} {
			h, b := s.Bank.Webhook(a)
			if _, err := w.Verify(ctx, h, b); !errors.Is(err, bank.ErrForged) {
				return fmt.Errorf("an event sent %s ago: %w", a, err)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same forgeries each time
	for range forgeries {
		h, b, how := forge(r, header, body)
		if _, err := w.Verify(ctx, h, b); err == nil {
			return fmt.Errorf("a forged event is accepted: %s", how)
		} else if e, broken := errors.AsType[*bank.Error](err); !errors.Is(err, bank.ErrForged) &&
			(!broken || e.Class != bank.Later) {
			return fmt.Errorf("%s: %w", how, err)
		}
	}
	if _, err := w.Verify(ctx, header, body); err != nil {
		return fmt.Errorf("after the forgeries a genuine event returns %w", err)
	}
	return nil
}

// forge changes a delivery so that its meaning or its bytes differ.
func forge(r *rand.Rand, header http.Header, body []byte) (http.Header, []byte, string) {
	h, b := header.Clone(), slices.Clone(body)
	var names []string
	for name := range h {
		if name != "Content-Type" {
			names = append(names, name)
		}
	}
	name := names[0]
	value := []byte(h.Get(name))
	switch r.IntN(6) {
	case 0:
		b[r.IntN(len(b))] ^= byte(1 << r.IntN(7))
		return h, b, "a bit of the body"
	case 1:
		var out bytes.Buffer
		_ = json.Indent(&out, b, "", "   ") // an empty body is also a forgery
		return h, out.Bytes(), "the same JSON, formatted differently"
	case 2:
		return h, append(b, " \n\t"[r.IntN(3)]), "an additional space"
	case 3:
		h.Del(name)
		return h, b, "no signature"
	case 4:
		// The last character of base64 may contain unused bits, so it is not changed.
		i := r.IntN(len(value) - 1)
		was := value[i]
		for value[i] == was {
			value[i] = "0123456789abcdefXYZ_-.,="[r.IntN(24)]
		}
		h.Set(name, string(value))
		return h, b, "a character of the signature"
	default:
		cut := r.IntN(len(value))
		h.Set(name, string(bytes.TrimSpace(value[:cut])))
		return h, b, "half a signature"
	}
}

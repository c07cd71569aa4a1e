package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
)

// A forger makes deliveries that must not be accepted. Each number gives another delivery.
type forger struct {
	provider string
	how      string
	make     func(n int) (banks.Delivery, error)
}

// printed returns the same JSON in other bytes.
func printed(body []byte) []byte {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		panic(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if bytes.Equal(b, body) {
		b = append(b, '\n')
	}
	return b
}

// flip changes one character so that the text can still be decoded as hexadecimal or base64.
func flip(s string, at int) string {
	b := []byte(s)
	if b[at] == '1' {
		b[at] = '2'
	} else {
		b[at] = '1'
	}
	return string(b)
}

// forgers returns the ways to make a delivery that looks valid but is not. A caller that signs must
// hold clock, because some forgers change the simulator's clock.
func (b *bankWorld) forgers(t *testing.T, clock *sync.Mutex, stranger *banks.Plaid,
	otherTeller *banks.Teller,
) []forger {
	t.Helper()
	news := func(n int) (banks.Delivery, error) {
		return b.plaid.Webhook(b.books[0].ID(), "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", map[string]any{"n": n})
	}
	told := func(n int) (banks.Delivery, error) {
		return b.teller.Webhook(fmt.Sprintf("wh_forged_%d", n), "transactions.processed",
			map[string]any{"enrollment_id": b.books[1].ID()})
	}
	bend := func(first func(int) (banks.Delivery, error), change func(*banks.Delivery)) func(int) (banks.Delivery,
		error) {
		return func(n int) (banks.Delivery, error) {
			d, err := first(n)
			if err == nil {
				d.Header = d.Header.Clone()
				change(&d)
			}
			return d, err
		}
	}
	token := func(change func(parts []string) []string) func(*banks.Delivery) {
		return func(d *banks.Delivery) {
			d.Header.Set("Plaid-Verification",
				strings.Join(change(strings.Split(d.Header.Get("Plaid-Verification"), ".")), "."))
		}
	}
	claims := func(edit func(map[string]any)) func(parts []string) []string {
		return func(parts []string) []string {
			raw, err := base64.RawURLEncoding.DecodeString(parts[1])
			var v map[string]any
			if err != nil || json.Unmarshal(raw, &v) != nil {
				panic("banksim's own token")
			}
			edit(v)
			raw, _ = json.Marshal(v)
			parts[1] = base64.RawURLEncoding.EncodeToString(raw)
			return parts
		}
	}
	seal := func(change func(string) string) func(*banks.Delivery) {
		return func(d *banks.Delivery) { d.Header.Set("Teller-Signature", change(d.Header.Get("Teller-Signature"))) }
	}
	const plaid, teller = "Plaid-Verification", "Teller-Signature"
	at := func(skew time.Duration, advance func(time.Duration),
		first func(int) (banks.Delivery, error),
	) func(int) (banks.Delivery, error) {
		return func(n int) (banks.Delivery, error) {
			clock.Lock()
			defer clock.Unlock()
			advance(skew)
			defer advance(-skew)
			return first(n)
		}
	}
	early := func(n int) (banks.Delivery, error) { clock.Lock(); defer clock.Unlock(); return news(n) }
	earlyTold := func(n int) (banks.Delivery, error) { clock.Lock(); defer clock.Unlock(); return told(n) }
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"x"}`))
	return []forger{
		{"plaid", "printed anew", bend(early, func(d *banks.Delivery) { d.Body = printed(d.Body) })},
		{"plaid", "another body", bend(early, func(d *banks.Delivery) {
			d.Body = bytes.Replace(d.Body, []byte("SYNC"),
				[]byte("SINC"), 1)
		})},
		{"plaid", "no signature", bend(early, func(d *banks.Delivery) { d.Header.Del(plaid) })},
		{"plaid", "two signatures", bend(early, func(d *banks.Delivery) {
			d.Header.Add(plaid,
				d.Header.Get(plaid))
		})},
		{"plaid", "a bent signature", bend(early,
			token(func(p []string) []string { p[2] = flip(p[2], 20); return p }))},
		{"plaid", "a cut signature", bend(early, token(func(p []string) []string { p[2] = p[2][:40]; return p }))},
		{"plaid", "no algorithm", bend(early, token(func(p []string) []string { p[0] = none; return p }))},
		{"plaid", "a bent moment", bend(early,
			token(claims(func(v map[string]any) { v["iat"] = time.Now().Unix() - 7 })))},
		{"plaid", "stale", at(-6*time.Minute, b.plaid.Advance, news)},
		{"plaid", "of the future", at(5*time.Minute, b.plaid.Advance, news)},
		{"plaid", "a stranger's key", func(n int) (banks.Delivery, error) {
			return stranger.Webhook(b.books[0].ID(), "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", map[string]any{"n": n})
		}},
		{"teller", "printed anew", bend(earlyTold, func(d *banks.Delivery) { d.Body = printed(d.Body) })},
		{"teller", "another body", bend(earlyTold,
			func(d *banks.Delivery) { d.Body = bytes.Replace(d.Body, []byte("processed"), []byte("processeD"), 1) })},
		{"teller", "no signature", bend(earlyTold, func(d *banks.Delivery) { d.Header.Del(teller) })},
		{"teller", "two headers", bend(earlyTold,
			func(d *banks.Delivery) { d.Header.Add(teller, d.Header.Get(teller)) })},
		{"teller", "two moments", bend(earlyTold, seal(func(s string) string { return "t=1," + s }))},
		{"teller", "another moment", bend(earlyTold,
			seal(func(s string) string { return strings.Replace(s, "t=1", "t=2", 1) }))},
		{"teller", "a bent signature", bend(earlyTold, seal(func(s string) string { return flip(s, len(s)-9) }))},
		{"teller", "Plaid's words", bend(earlyTold,
			func(d *banks.Delivery) { d.Header = http.Header{plaid: {"a.b.c"}} })},
		{"teller", "stale", at(-4*time.Minute, b.teller.Advance, told)},
		{"teller", "of the future", at(3*time.Minute, b.teller.Advance, told)},
		{"teller", "another secret", func(n int) (banks.Delivery, error) {
			return otherTeller.Webhook(fmt.Sprintf("wh_forged_%d", n), "transactions.processed",
				map[string]any{"enrollment_id": b.books[1].ID()})
		}},
	}
}

// TestForgedDeliveries sends ten thousand deliveries that are forged, stale or re-encoded. The
// server accepts and stores none of them. It accepts the genuine ones in between.
func TestForgedDeliveries(t *testing.T) {
	t.Parallel()
	const forged, between = 10_000, 500
	b := newBankWorld(t, 20)
	b.books = []*banks.Book{nil, b.teller.Enroll().Book}
	_, b.books[0] = b.plaid.NewItem("")
	stranger, err := banks.NewPlaid(banks.PlaidOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stranger.Close)
	other, err := banks.NewTeller(banks.TellerOptions{Sandbox: true, Secrets: []string{"not the secret"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	var clock sync.Mutex
	forgers := b.forgers(t, &clock, stranger, other)
	client := hammerClient(t)
	var next, good atomic.Int64
	var answers sync.Map
	began := time.Now()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for n := next.Add(1) - 1; n < forged && !t.Failed(); n = next.Add(1) - 1 {
				f := forgers[int(n)%len(forgers)]
				d, err := f.make(int(n))
				if err != nil {
					t.Error(err)
					return
				}
				status, body, err := deliver(t.Context(), client, b.url+"/webhooks/"+f.provider, d)
				// The server limits how often it asks for unknown keys.
				later := f.how == "a stranger's key" && status == http.StatusServiceUnavailable
				if err != nil || !later && (status != http.StatusUnauthorized ||
					!strings.Contains(body, "INVALID_SIGNATURE")) {
					t.Errorf("%s, %s: %d %s %v", f.provider, f.how, status, body, err)
				}
				count, _ := answers.LoadOrStore(status, new(atomic.Int64))
				count.(*atomic.Int64).Add(1)
				if n%between == 0 { // the control: a genuine delivery is accepted
					clock.Lock()
					d, err := b.teller.Webhook(fmt.Sprintf("wh_true_%d", n), "transactions.processed",
						map[string]any{"enrollment_id": "nobody"})
					clock.Unlock()
					if err != nil {
						t.Error(err)
						return
					}
					if status, body, err := deliver(t.Context(), client, b.url+"/webhooks/teller", d); err != nil ||
						status != http.StatusOK {
						t.Errorf("a true one: %d %s %v", status, body, err)
					}
					good.Add(1)
				}
			}
		})
	}
	group.Wait()
	stored, err := pg.Value[int64](t.Context(), b.DB, `select count(*) from webhook_event`)
	if err != nil || stored != good.Load() {
		t.Errorf("%d events are stored, %d were true (%v)", stored, good.Load(), err)
	}
	minutes := int(time.Since(began)/time.Minute) + 1
	if n := b.plaid.Calls("/webhook_verification_key/get"); n > 1+minutes {
		t.Errorf("%d questions about keys in %d minutes", n, minutes)
	}
	refused := func(status int) int64 {
		if n, ok := answers.Load(status); ok {
			return n.(*atomic.Int64).Load()
		}
		return 0
	}
	t.Logf("%d forged in %.1f s: %d refused, %d asked to come again; %d true ones stored", forged,
		time.Since(began).Seconds(), refused(401), refused(503), good.Load())
}

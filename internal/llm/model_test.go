package llm

import (
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/money"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	p := Price{Input: 3_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, Output: 15_000_000}
	if got := p.Cost(NewUsage(1000, 2000, 3000, 400)); got != 3000+600+11250+6000 {
		t.Errorf("cost %d", got)
	}
	if got := (Price{Input: 1}).Cost(NewUsage(1, 0, 0, 0)); got != 1 {
		t.Errorf("a millionth of a millionth is rounded to %d", got)
	}
	if got := p.Cost(NewUsage(math.MaxInt64, 0, 0, math.MaxInt64)); got != tooMuch {
		t.Errorf("an absurd usage costs %d", got)
	}
}

// Cost is exact, and never above the Bound for the allowed tokens.
func FuzzCost(f *testing.F) {
	f.Add(int64(1000), int64(50), int64(7), int64(800), int64(3_000_000), int64(300_000), int64(3_750_000), int64(15_000_000), int64(50_000))
	f.Add(int64(math.MaxInt64), int64(1), int64(1), int64(1), int64(math.MaxInt64), int64(1), int64(1), int64(1), int64(0))
	f.Fuzz(func(t *testing.T, in, read, write, out, pi, pr, pw, po, rest int64) {
		for _, n := range []*int64{&in, &read, &write, &out, &pi, &pr, &pw, &po, &rest} {
			*n = max(*n, 0)
		}
		p := Price{money.Micros(pi), money.Micros(pr), money.Micros(pw), money.Micros(po)}
		u := NewUsage(in, read, write, out)
		want := new(big.Int)
		for _, x := range [][2]int64{{in, pi}, {read, pr}, {write, pw}, {out, po}} {
			want.Add(want, new(big.Int).Mul(big.NewInt(x[0]), big.NewInt(x[1])))
		}
		want.Add(want, big.NewInt(999_999)).Div(want, big.NewInt(1_000_000))
		if want.Cmp(big.NewInt(int64(tooMuch))) > 0 {
			want.SetInt64(int64(tooMuch))
		}
		cost := p.Cost(u)
		if int64(cost) != want.Int64() {
			t.Errorf("%+v at %+v: %d, want %d", u, p, cost, want)
		}
		if bound := p.Bound(u.Prompt(), out); cost > bound {
			t.Errorf("%+v at %+v: %d above its bound %d", u, p, cost, bound)
		}
		most := p.Affordable(in, money.Micros(rest))
		if p.Bound(in, 0) <= money.Micros(rest) && p.Bound(in, most) > money.Micros(rest) && most != math.MaxInt64 {
			t.Errorf("%d tokens are not affordable with %d", most, rest)
		}
	})
}

func TestPromptBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes  int64
		before Prompt
		want   int64
	}{
		{13_000, Prompt{}, 14_000},
		{15_000, Prompt{13_000, 4_000}, 4_000 + 2_000 + 200},
		{15_000, Prompt{13_000, 14_900}, 16_000},
		{15_000, Prompt{13_000, 100}, 16_000}, // a server with an impossible count
		{10_000, Prompt{13_000, 4_000}, 11_000},
		{13_500, Prompt{13_000, math.MaxInt64}, 14_500},
	} {
		if got := PromptBound(c.bytes, c.before); got != c.want {
			t.Errorf("%d after %+v: %d, want %d", c.bytes, c.before, got, c.want)
		}
	}
	for p, want := range map[Prompt]bool{
		{13_000, 2_000}: true, {13_000, 2_500}: false, {13_000, 0}: false, {100, 1}: false,
	} {
		if WasCut(p) != want {
			t.Errorf("%+v: want %v", p, want)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	a := &Answer{Body: strings.NewReader(": comment\n\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\n\ndata: 3\n\ndata: cut")}
	var got []string
	for e, err := range a.Events() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name+"="+string(e.Data))
	}
	if s := strings.Join(got, "|"); s != "a=1\n2|=3" {
		t.Errorf("%q", s)
	}
}

func TestDialler(t *testing.T) {
	t.Parallel()
	d := dialler{address: "localhost:1", plain: true}
	if _, err := d.dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "configured") {
		t.Errorf("another address is dialled: %v", err)
	}
	if err := d.judge("tcp", "8.8.8.8:1", nil); err == nil {
		t.Error("http to a public address")
	}
	if err := (dialler{address: "a:1"}).judge("tcp", "8.8.8.8:1", nil); err != nil {
		t.Errorf("https to a public address: %v", err)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "-7", 0},
		{"Retry-After", "99999999999", 24 * time.Hour},
		{"Retry-After", "soon", 0},
		{"Retry-After", "Thu, 01 Jan 2026 00:01:00 GMT", time.Minute},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
	} {
		if got, retry := Wait(http.Header{c.name: {c.value}}, now); got != c.want || retry != nil {
			t.Errorf("%s: %s: %v", c.name, c.value, got)
		}
	}
}

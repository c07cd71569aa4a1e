package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/model"
	"coffer/internal/modelsim"
)

// Failures that a person must fix are distinguished, and not retried.
func refusals(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		fault modelsim.Fault
		class model.Class
		code  string
	}{
		{modelsim.Fault{Status: 401, Message: "wrong " + key}, model.Denied, model.CodeKey},
		{modelsim.Fault{Status: 403}, model.Denied, model.CodeKey},
		{modelsim.Fault{Status: 402}, model.Denied, model.CodeSpend},
		{modelsim.Fault{Status: 404, Code: "model_not_found"}, model.Denied, model.CodeModel},
		{modelsim.Fault{Status: 404, Body: "<html>not here"}, model.Denied, model.CodeModel},
		{modelsim.Fault{Status: 413}, model.Ours, model.CodeContext},
		{modelsim.Fault{Status: 400, Code: "context_length_exceeded"}, model.Ours, model.CodeContext},
		{modelsim.Fault{Status: 400, Message: "prompt is too long: 9 > 8"}, model.Ours, model.CodeContext},
		{modelsim.Fault{Status: 400, Message: "your credit balance is too low"}, model.Denied, model.CodeSpend},
		{modelsim.Fault{Status: 400, Body: `{"error":"m does not support tools"}`}, model.Denied, model.CodeTools},
		{modelsim.Fault{Status: 400}, model.Ours, model.CodeRequest},
		{modelsim.Fault{Status: 429, Code: "enforced_spend_limit_reached"}, model.Denied, model.CodeSpend},
		{modelsim.Fault{Status: 429, Code: "insufficient_quota"}, model.Denied, model.CodeSpend},
		{
			modelsim.Fault{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}},
			model.Denied,
			model.CodeServer,
		},
		{modelsim.Fault{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}, model.Later, model.CodeBusy},
	} {
		b := s.bench(t, modelsim.Options{})
		c.fault.Times = -1
		b.sim.Fail(c.fault)
		e := b.fails(t, c.class, c.code)
		if b.sim.Count() != 1 || e.Billed || e.Status != c.fault.Status {
			t.Errorf("%+v: asked %d times, %+v", c.fault, b.sim.Count(), e)
		}
		if c.fault.Header.Get("Retry-After") != "" && e.RetryAfter != time.Hour {
			t.Errorf("wait %v", e.RetryAfter)
		}
	}
	b := s.bench(t, modelsim.Options{Key: "another"})
	_ = b.fails(t, model.Denied, model.CodeKey)
	b = s.bench(t, modelsim.Options{Models: []string{"only this"}})
	_ = b.fails(t, model.Denied, model.CodeModel)
}

// Failures that pass are tried again, twice here, and then the answer is whole.
func retries(t *testing.T, s Subject) {
	t.Helper()
	for _, f := range []modelsim.Fault{
		{Status: 429},
		{Status: 429, Header: http.Header{"Retry-After": {"1"}}},
		{Status: 429, Header: http.Header{"Retry-After-Ms": {"20"}}},
		{Status: 500},
		{Status: 503, Code: "server_is_overloaded"},
		{Status: 529},
		{Status: 504, Body: "<html>gateway"},
		{Status: 400, Header: http.Header{"X-Should-Retry": {"true"}}},
	} {
		b := s.bench(t, modelsim.Options{Script: modelsim.Sequence(modelsim.Say("ok"))})
		f.Times = 2
		b.sim.Fail(f)
		from := time.Now()
		got := b.must(t, ask("hello"))
		if got.Retries != 2 || got.Text != "ok" {
			t.Errorf("%+v: %+v", f, got)
		}
		if f.Header.Get("Retry-After") != "" && time.Since(from) < 2*time.Second {
			t.Errorf("retry-after was not waited for: %v", time.Since(from))
		}
	}
	b := s.bench(t, modelsim.Options{})
	b.sim.Fail(modelsim.Fault{Status: 529, Times: -1})
	_ = b.fails(t, model.Later, model.CodeBusy)
	if got := b.sim.Count(); got != 4 {
		t.Errorf("asked %d times", got)
	}
	// an answer that began may be billed, so it is not asked for again
	b = s.bench(t, modelsim.Options{Script: modelsim.Sequence(
		modelsim.Say("x").With(modelsim.Fault{Event: "overloaded_error"}))})
	if e := b.fails(t, model.Later, model.CodeBusy); !e.Billed || b.sim.Count() != 1 {
		t.Errorf("%+v after %d", e, b.sim.Count())
	}
}

// A client speaks to one address and follows nobody.
func connection(t *testing.T, s Subject) {
	t.Helper()
	elsewhere := s.bench(t, modelsim.Options{})
	b := s.bench(t, modelsim.Options{})
	for _, status := range []int{301, 302, 307, 308} {
		b.sim.Fail(modelsim.Fault{Status: status, Redirect: elsewhere.sim.URL() + "/v1/messages"})
		_ = b.fails(t, model.Denied, model.CodeAddress)
	}
	if got := elsewhere.sim.Count(); got != 0 {
		t.Errorf("a redirect was followed %d times", got)
	}
	for _, base := range []string{
		"ftp://127.0.0.1", "127.0.0.1:1", "http://user@127.0.0.1", "http://127.0.0.1?a=b", "http://127.0.0.1#a",
		"https://",
	} {
		if _, err := s.New(model.Config{BaseURL: base}); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
	// plain http beyond the own network; nothing is sent there
	far, err := s.New(model.Config{BaseURL: "http://192.0.2.1/v1", Key: key, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	_, err = far.Ask(t.Context(), ask("hello"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeAddress || e.Class != model.Denied {
		t.Errorf("http to a public address: %v", err)
	}
	// nobody listens: it passes, and nothing was billed
	gone := s.bench(t, modelsim.Options{})
	gone.sim.Close()
	if e := gone.fails(t, model.Later, model.CodeNetwork); e.Billed {
		t.Error("billed without a connection")
	}
	b.sim.Play(modelsim.Sequence(modelsim.Say("ok").With(modelsim.Fault{Gzip: true})))
	if got := b.must(t, ask("hello")); got.Text != "ok" {
		t.Errorf("compressed: %+v", got)
	}
}

// Responses that are too large, too slow or invalid end in time, with little memory.
func limits(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		answer modelsim.Answer
		code   string
	}{
		{modelsim.Answer{Filler: 50 << 20, Usage: &modelsim.Usage{}}, model.CodeTooLarge},
		{
			modelsim.Answer{Filler: 50 << 20, Usage: &modelsim.Usage{}}.With(modelsim.Fault{Gzip: true}),
			model.CodeTooLarge,
		},
		{modelsim.Say("hello").With(modelsim.Fault{Drip: 100 * time.Millisecond}), model.CodeTimeout},
		{modelsim.Say("hello").With(modelsim.Fault{After: 150, End: modelsim.Hang}), model.CodeTimeout},
		{modelsim.Say("hello").With(modelsim.Fault{Delay: time.Minute}), model.CodeTimeout},
		{modelsim.Say("hello").With(modelsim.Fault{Silence: true}), model.CodeTimeout},
		{modelsim.Say("hello").With(modelsim.Fault{Broken: true}), model.CodeMalformed},
		{modelsim.Answer{Fault: &modelsim.Fault{Status: 200, Body: "<html>hello"}}, model.CodeMalformed},
		{modelsim.Answer{Fault: &modelsim.Fault{Status: 200, Body: "{}"}}, model.CodeMalformed},
	} {
		b := s.bench(t, modelsim.Options{Script: modelsim.Sequence(c.answer)})
		from := time.Now()
		if e := b.fails(t, model.Broken, c.code); !e.Billed {
			t.Errorf("%+v is not billed", e)
		}
		if took := time.Since(from); took > 8*time.Second {
			t.Errorf("%s took %v", c.code, took)
		}
	}
}

// A prompt that is too long is an error, or can be known by the number of its tokens.
func contextSize(t *testing.T, s Subject) {
	t.Helper()
	r := ask(strings.Repeat("some words of a long prompt ", 500))
	b := s.bench(t, modelsim.Options{Context: 1000})
	_, err := b.client.Ask(t.Context(), r)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeContext || e.Class != model.Ours {
		t.Errorf("honest: %v", err)
	}
	b = s.bench(t, modelsim.Options{Context: 1000, Silent: true, Script: func(r modelsim.Request) modelsim.Answer {
		return modelsim.Say(r.System + fmt.Sprint(len(r.Tools)))
	}})
	got := b.must(t, r)
	if got.Text != "0" || !model.WasCut(model.Prompt{Bytes: r.Bytes(), Tokens: got.Usage.Prompt()}) {
		t.Errorf("silent: %+v of %d bytes", got, r.Bytes())
	}
	b = s.bench(t, modelsim.Options{Script: modelsim.Sequence(modelsim.Say("ok"))})
	if got := b.must(t, r); model.WasCut(model.Prompt{Bytes: r.Bytes(), Tokens: got.Usage.Prompt()}) {
		t.Errorf("a whole prompt counts as cut: %+v", got)
	}
}

// A call ends with its context.
func cancel(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, modelsim.Options{})
	b.sim.Fail(modelsim.Fault{Silence: true, Times: -1})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	from := time.Now()
	if _, err := b.client.Ask(ctx, ask("hello")); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(from) > time.Second {
		t.Errorf("%v after %v", err, time.Since(from))
	}
}

// A client that is printed shows no key.
func hidden(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, modelsim.Options{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if strings.Contains(fmt.Sprintf(verb, b.client), key) {
			t.Errorf("%s shows the key", verb)
		}
	}
}

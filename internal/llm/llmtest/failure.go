package llmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/llm"
	"coffer/internal/sim/models"
)

// refusals tests that failures which a person must fix are distinguished, and not retried.
func refusals(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		fault models.Fault
		class llm.Class
		code  string
	}{
		{models.Fault{Status: 401, Message: "wrong " + key}, llm.Denied, llm.CodeKey},
		{models.Fault{Status: 403}, llm.Denied, llm.CodeKey},
		{models.Fault{Status: 402}, llm.Denied, llm.CodeSpend},
		{models.Fault{Status: 404, Code: "model_not_found"}, llm.Denied, llm.CodeModel},
		{models.Fault{Status: 404, Body: "<html>not here"}, llm.Denied, llm.CodeModel},
		{models.Fault{Status: 413}, llm.Ours, llm.CodeContext},
		{models.Fault{Status: 400, Code: "context_length_exceeded"}, llm.Ours, llm.CodeContext},
		{models.Fault{Status: 400, Message: "prompt is too long: 9 > 8"}, llm.Ours, llm.CodeContext},
		{models.Fault{Status: 400, Message: "your credit balance is too low"}, llm.Denied, llm.CodeSpend},
		{models.Fault{Status: 400, Body: `{"error":"m does not support tools"}`}, llm.Denied, llm.CodeTools},
		{models.Fault{Status: 400}, llm.Ours, llm.CodeRequest},
		{models.Fault{Status: 429, Code: "enforced_spend_limit_reached"}, llm.Denied, llm.CodeSpend},
		{models.Fault{Status: 429, Code: "insufficient_quota"}, llm.Denied, llm.CodeSpend},
		{
			models.Fault{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}},
			llm.Denied,
			llm.CodeServer,
		},
		{models.Fault{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}, llm.Later, llm.CodeBusy},
	} {
		b := s.bench(t, models.Options{})
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
	b := s.bench(t, models.Options{Key: "another"})
	_ = b.fails(t, llm.Denied, llm.CodeKey)
	b = s.bench(t, models.Options{Models: []string{"only this"}})
	_ = b.fails(t, llm.Denied, llm.CodeModel)
}

// retries tests that temporary failures are tried again, here twice, until the answer is complete.
func retries(t *testing.T, s Subject) {
	t.Helper()
	for _, f := range []models.Fault{
		{Status: 429},
		{Status: 429, Header: http.Header{"Retry-After": {"1"}}},
		{Status: 429, Header: http.Header{"Retry-After-Ms": {"20"}}},
		{Status: 500},
		{Status: 503, Code: "server_is_overloaded"},
		{Status: 529},
		{Status: 504, Body: "<html>gateway"},
		{Status: 400, Header: http.Header{"X-Should-Retry": {"true"}}},
	} {
		b := s.bench(t, models.Options{Script: models.Sequence(models.Say("ok"))})
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
	b := s.bench(t, models.Options{})
	b.sim.Fail(models.Fault{Status: 529, Times: -1})
	_ = b.fails(t, llm.Later, llm.CodeBusy)
	if got := b.sim.Count(); got != 4 {
		t.Errorf("asked %d times", got)
	}
	// An answer that has begun may be billed, so the client does not request it again.
	b = s.bench(t, models.Options{Script: models.Sequence(
		models.Say("x").With(models.Fault{Event: "overloaded_error"}))})
	if e := b.fails(t, llm.Later, llm.CodeBusy); !e.Billed || b.sim.Count() != 1 {
		t.Errorf("%+v after %d", e, b.sim.Count())
	}
}

// connection tests that a client contacts only its own address and follows no redirects.
func connection(t *testing.T, s Subject) {
	t.Helper()
	elsewhere := s.bench(t, models.Options{})
	b := s.bench(t, models.Options{})
	for _, status := range []int{301, 302, 307, 308} {
		b.sim.Fail(models.Fault{Status: status, Redirect: elsewhere.sim.URL() + "/v1/messages"})
		_ = b.fails(t, llm.Denied, llm.CodeAddress)
	}
	if got := elsewhere.sim.Count(); got != 0 {
		t.Errorf("a redirect was followed %d times", got)
	}
	for _, base := range []string{
		"ftp://127.0.0.1", "127.0.0.1:1", "http://user@127.0.0.1", "http://127.0.0.1?a=b", "http://127.0.0.1#a",
		"https://",
	} {
		if _, err := s.New(llm.Config{BaseURL: base}); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
	// Plain HTTP to an address outside the private networks: nothing is sent.
	far, err := s.New(llm.Config{BaseURL: "http://192.0.2.1/v1", Key: key, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	_, err = far.Ask(t.Context(), ask("hello"))
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Code != llm.CodeAddress || e.Class != llm.Denied {
		t.Errorf("http to a public address: %v", err)
	}
	// No server listens: the failure is temporary, and nothing was billed. The port is 1, because
	// another program may take the port of a server that was closed.
	gone, err := s.New(llm.Config{BaseURL: "http://127.0.0.1:1/v1", Key: key, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	_, err = gone.Ask(t.Context(), ask("hello"))
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Code != llm.CodeNetwork || e.Class != llm.Later || e.Billed {
		t.Errorf("without a connection: %v", err)
	}
	b.sim.Play(models.Sequence(models.Say("ok").With(models.Fault{Gzip: true})))
	if got := b.must(t, ask("hello")); got.Text != "ok" {
		t.Errorf("compressed: %+v", got)
	}
}

// limits tests that responses which are too large, too slow or invalid end in time, with little
// memory.
func limits(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		answer models.Answer
		code   string
	}{
		{models.Answer{Filler: 50 << 20, Usage: &models.Usage{}}, llm.CodeTooLarge},
		{
			models.Answer{Filler: 50 << 20, Usage: &models.Usage{}}.With(models.Fault{Gzip: true}),
			llm.CodeTooLarge,
		},
		{models.Say("hello").With(models.Fault{Drip: 100 * time.Millisecond}), llm.CodeTimeout},
		{models.Say("hello").With(models.Fault{After: 150, End: models.Hang}), llm.CodeTimeout},
		{models.Say("hello").With(models.Fault{Delay: time.Minute}), llm.CodeTimeout},
		{models.Say("hello").With(models.Fault{Silence: true}), llm.CodeTimeout},
		{models.Say("hello").With(models.Fault{Broken: true}), llm.CodeMalformed},
		{models.Answer{Fault: &models.Fault{Status: 200, Body: "<html>hello"}}, llm.CodeMalformed},
		{models.Answer{Fault: &models.Fault{Status: 200, Body: "{}"}}, llm.CodeMalformed},
	} {
		b := s.bench(t, models.Options{Script: models.Sequence(c.answer)})
		from := time.Now()
		if e := b.fails(t, llm.Broken, c.code); !e.Billed {
			t.Errorf("%+v is not billed", e)
		}
		if took := time.Since(from); took > 8*time.Second {
			t.Errorf("%s took %v", c.code, took)
		}
	}
}

// contextSize tests that a prompt which is too long is an error, or shows in the number of its
// tokens.
func contextSize(t *testing.T, s Subject) {
	t.Helper()
	r := ask(strings.Repeat("some words of a long prompt ", 500))
	b := s.bench(t, models.Options{Context: 1000})
	_, err := b.client.Ask(t.Context(), r)
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Code != llm.CodeContext || e.Class != llm.Ours {
		t.Errorf("honest: %v", err)
	}
	b = s.bench(t, models.Options{Context: 1000, Silent: true, Script: func(r models.Request) models.Answer {
		return models.Say(r.System + fmt.Sprint(len(r.Tools)))
	}})
	got := b.must(t, r)
	if got.Text != "0" || !llm.WasCut(llm.Prompt{Bytes: r.Bytes(), Tokens: got.Usage.Prompt()}) {
		t.Errorf("silent: %+v of %d bytes", got, r.Bytes())
	}
	b = s.bench(t, models.Options{Script: models.Sequence(models.Say("ok"))})
	if got := b.must(t, r); llm.WasCut(llm.Prompt{Bytes: r.Bytes(), Tokens: got.Usage.Prompt()}) {
		t.Errorf("a whole prompt counts as cut: %+v", got)
	}
}

// cancel tests that a call ends with its context.
func cancel(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, models.Options{})
	b.sim.Fail(models.Fault{Silence: true, Times: -1})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	from := time.Now()
	if _, err := b.client.Ask(ctx, ask("hello")); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(from) > time.Second {
		t.Errorf("%v after %v", err, time.Since(from))
	}
}

// hidden tests that printing a client does not show its key.
func hidden(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, models.Options{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if strings.Contains(fmt.Sprintf(verb, b.client), key) {
			t.Errorf("%s shows the key", verb)
		}
	}
}

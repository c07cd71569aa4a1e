package seal_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"coffer/internal/platform/seal"
)

func TestSecretIsRedacted(t *testing.T) {
	t.Parallel()
	const canary = "canary-4f1c"
	s := seal.NewSecret(canary)
	type holder struct {
		Open   seal.Secret
		hidden seal.Secret
		p      *seal.Secret
	}
	held := holder{s, s, &s}

	var outs []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s"} {
		for _, value := range []any{s, &s, held, &held, []seal.Secret{s}, map[string]seal.Secret{"k": s}} {
			outs = append(outs, fmt.Sprintf(verb, value))
		}
	}
	outs = append(outs, s.String(), fmt.Sprint(s), fmt.Errorf("login with %v failed", s).Error())

	for _, marshal := range []func(any) ([]byte, error){json.Marshal, xml.Marshal} {
		data, err := marshal(held)
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, string(data))
	}
	keys, err := json.Marshal(map[seal.Secret]int{s: 1})
	if err != nil {
		t.Fatal(err)
	}
	outs = append(outs, string(keys))

	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Error("failed", "token", s, "held", held, "pointer", &s, "err", errors.New(s.String()))
	}
	outs = append(outs, log.String())

	for _, out := range outs {
		if strings.Contains(out, canary) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", canary)) {
			t.Errorf("leaks: %s", out)
		}
	}
	if got := fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s); got != strings.TrimSpace(strings.Repeat("[secret] ", 5)) {
		t.Errorf("fmt prints %s", got)
	}
	if got := slog.AnyValue(s).Resolve(); got.Kind() != slog.KindString || got.String() != "[secret]" {
		t.Errorf("slog resolves to %s", got)
	}
}

func TestSecretIsReadable(t *testing.T) {
	t.Parallel()
	var answer struct {
		Token seal.Secret `json:"access_token"`
		None  seal.Secret `json:"none"`
	}
	if err := json.Unmarshal([]byte(`{"access_token":"abc\"def","none":""}`), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Token.Reveal() != `abc"def` || answer.Token.IsZero() {
		t.Errorf("revealed %q", answer.Token.Reveal())
	}
	if answer.None.Reveal() != "" || !answer.None.IsZero() || answer.None != (seal.Secret{}) {
		t.Error("an empty secret is not the zero value")
	}
}

func TestSecretIsNoQueryArgument(t *testing.T) {
	t.Parallel()
	if v, err := seal.NewSecret("abc").Value(); err == nil || v != nil {
		t.Errorf("%v, %v", v, err)
	}
}

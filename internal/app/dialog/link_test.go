package dialog

import (
	"context"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// An answering caller gives each op its answers, one after the other.
type answering map[string][]string

func (a answering) Call(_ context.Context, o *op.Op, _ map[string]any) ([]byte, error) {
	next := a[o.Name][0]
	a[o.Name] = a[o.Name][1:]
	return []byte(next), nil
}

// A bank that is connected with values needs no page, until a person has to decide something there:
// then the address is shown.
func TestLinkingSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	const page = "http://127.0.0.1:8080/link/abc"
	for what, c := range map[string]struct {
		args            map[string]any
		says, saysNever string
	}{
		"values": {
			map[string]any{"fields": map[string]any{"setup_token": "x"}}, "Connecting the bank…", "sign in",
		},
		"a page": {map[string]any{}, "Open this page", "Connecting the bank…"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			l := &linking{out: &out, Asker: Asker{Caller: answering{
				"connection.session": {`{"token":"abc","url":"` + page + `"}`},
				"connection.outcome": {
					`{"state":"pending"}`,
					`{"state":"pending","error":{"code":"SEEMS_LINKED","message":"it seems to be connected already"}}`,
					`{"state":"failed","error":{"code":"SESSION_LEFT","message":"the bank was not connected"}}`,
				},
			}}}
			for _, name := range []string{"connection.session", "connection.outcome"} {
				l.Ops = append(l.Ops, &op.Op{Spec: op.Spec{Name: name}})
			}
			err := l.run(t.Context(), "connection.session", c.args)
			said := out.String()
			if err == nil || !strings.Contains(said, c.says) || strings.Contains(said, c.saysNever) ||
				!strings.Contains(said, "Decide on the page "+page+": it seems to be connected already") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

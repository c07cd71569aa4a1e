package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/surface/cli"
)

// An op with a file_name input receives the file's name, unless the text comes from standard input.
func TestFileSaysItsName(t *testing.T) {
	t.Parallel()
	type take struct {
		Text     string  `json:"text" format:"file"`
		FileName *string `json:"file_name,omitempty" in:"query"`
	}
	type done struct {
		Made int `json:"made"`
	}
	o := op.Writing(op.Spec{Name: "text.take", Route: "POST /texts", TextIn: "text text/csv", Summary: "Takes a text."},
		func(context.Context, pg.Tx, take) (done, error) { return done{}, nil })
	file := filepath.Join(t.TempDir(), "May 2026.csv")
	if err := os.WriteFile(file, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		args []string
		want any
	}{
		"a file":          {[]string{"--file", file}, "May 2026.csv"},
		"a name as well":  {[]string{"--file", file, "--file-name", "Giro.csv"}, "Giro.csv"},
		"standard input":  {nil, nil},
		"so it is called": {[]string{"--file-name", "Giro.csv"}, "Giro.csv"},
	} {
		r := &recorder{}
		var out bytes.Buffer
		c := &cli.CLI{
			Ops: []*op.Op{o}, Database: true, In: strings.NewReader("a,b\n"), Out: &out, Err: &out,
			Local: func(context.Context) (cli.Caller, func(), error) { return r, func() {}, nil },
		}
		root := c.Root()
		root.SetArgs(append([]string{"text", "take"}, x.args...))
		if err := root.ExecuteContext(t.Context()); err != nil || r.args["file_name"] != x.want ||
			r.args["text"] != "a,b\n" {
			t.Errorf("%s: %v, %v", name, r.args, err)
		}
	}
}

// An error in the text is reported for --file, because the text has no flag of its own.
func TestFaultOfAFile(t *testing.T) {
	t.Parallel()
	type take struct {
		Text string `json:"text" format:"file" minLength:"1"`
	}
	o := op.Writing(op.Spec{Name: "text.take", Route: "POST /texts", TextIn: "text text/csv", Summary: "Takes a text."},
		func(context.Context, pg.Tx, take) (op.None, error) { return op.None{}, nil })
	var out bytes.Buffer
	c := &cli.CLI{
		Ops: []*op.Op{o}, Database: true, In: strings.NewReader(""), Out: &out, Err: &out,
		Local: func(context.Context) (cli.Caller, func(), error) { return refuser{}, func() {}, nil },
	}
	root := c.Root()
	root.SetArgs([]string{"text", "take"})
	if c.Fail(root.ExecuteContext(t.Context()), false); !strings.HasPrefix(out.String(), "coffer: --file: must not be empty") {
		t.Error(out.String())
	}
}

// A refuser returns an error about the text of every call.
type refuser struct{}

func (refuser) Call(context.Context, *op.Op, map[string]any) ([]byte, error) {
	return nil, errs.Field("text", "min_length", "must not be empty")
}

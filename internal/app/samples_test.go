package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/app/apptest"
	"coffer/internal/bank/statement/wanttest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A fileDoor is a surface on which an agent previews and imports files. Each has its own household.
type fileDoor struct {
	*world
	key    string
	answer func(t *testing.T, o *op.Op, file string, args map[string]any) (string, bool)
}

// fileDoors returns REST, the tools and the commands.
func fileDoors(t *testing.T) map[string]*fileDoor {
	t.Helper()
	open := func() *fileDoor {
		d := &fileDoor{world: newWorld(t)}
		d.work(t)
		d.key = d.newKey(t, auth.CreateKey{Name: "assistant", Scope: "full_access", ActorType: op.Agent}).Secret
		return d
	}
	rest, tool, command := open(), open(), open()
	rest.answer = func(t *testing.T, o *op.Op, file string, args map[string]any) (string, bool) {
		t.Helper()
		query := url.Values{}
		path := strings.ReplaceAll(o.Path, "{id}", plainly(args["id"]))
		for name, v := range args {
			if list, ok := v.([]any); ok {
				for _, item := range list {
					query.Add(name, plainly(item))
				}
			} else if name != "id" {
				query.Set(name, plainly(v))
			}
		}
		if o.IsLong() {
			query.Set("wait", "30s")
		}
		r := rest.send(t, exchange{ // with a media type that is wrong
			method: o.Method, path: "/api/v1" + path + "?" + query.Encode(), key: rest.key, kind: "image/png", body: file,
		})
		return r.body, r.status < http.StatusBadRequest
	}
	session := tool.agent(t, tool.key)
	tool.answer = func(t *testing.T, o *op.Op, file string, args map[string]any) (string, bool) {
		t.Helper()
		args = maps.Clone(args)
		args["csv"] = "data:;base64," + base64.StdEncoding.EncodeToString([]byte(file))
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: o.Tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return unmarked.ReplaceAllString(blockOf(t, res), "{"), !res.IsError
	}
	binary, home := apptest.Program(t), t.TempDir()
	command.answer = func(t *testing.T, o *op.Op, file string, args map[string]any) (string, bool) {
		t.Helper()
		name := filepath.Join(home, "photo.jpg") // a name that does not fit the content
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		words := strings.Split(o.Name, ".")
		if at, ok := args["id"]; ok {
			words = append(words, plainly(at))
		}
		words = append(words, "--file", name)
		for flag, v := range args {
			if flag != "id" {
				words = append(words, "--"+strings.ReplaceAll(flag, "_", "-"), plainly(v))
			}
		}
		cmd := exec.CommandContext(t.Context(), binary, words...)
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "COFFER_SERVER=" + command.url, "COFFER_API_KEY=" + command.key,
		}
		var out, faults bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &faults
		if err := cmd.Run(); err != nil {
			return faults.String(), false
		}
		return out.String(), true
	}
	return map[string]*fileDoor{"REST": rest, "tool": tool, "command": command}
}

func plainly(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// anAccount matches the account that a warning names.
var anAccount = regexp.MustCompile(`another account \([0-9A-Za-z]{8}\)`)

// withoutIDs decodes a result without ids, which differ between households.
func withoutIDs(t *testing.T, answer string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(anAccount.ReplaceAll([]byte(answer), []byte("another account")), &out); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var drop func(any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(name string, v any) bool {
				_, is := v.(string)
				return is && (name == "id" || strings.HasSuffix(name, "_id"))
			})
			for _, v := range v {
				drop(v)
			}
		case []any:
			for _, v := range v {
				drop(v)
			}
		}
	}
	drop(out)
	return out
}

// TestSamplesAreAlikeEverywhere: every sample file gives the same preview and the same result over
// REST, as tools and as commands. Names and media types are wrong on purpose. Each surface refuses
// a file that cannot be read. The test undoes the tool's import with the undo tool.
func TestSamplesAreAlikeEverywhere(t *testing.T) {
	t.Parallel()
	samples := wanttest.Samples(t, filepath.Join("testdata", "statements"))
	for _, format := range []string{"ofx", "qif", "camt", "mt940"} {
		samples = append(samples, wanttest.Samples(t, filepath.Join("..", "bank", "statement", format, "testdata"))...)
	}
	all := fileDoors(t)
	preview, bring := opNamed(t, all["REST"].Ops(), "csv.preview"), opNamed(t, all["REST"].Ops(), "csv.import")
	for _, sample := range samples {
		want, raw := wanttest.Load(t, sample)
		base := filepath.Base(sample)
		previews, results := map[string]map[string]any{}, map[string]map[string]any{}
		for name, d := range all {
			answer, ok := d.answer(t, preview, string(raw), map[string]any{})
			if ok != (want.Refused == "") {
				t.Fatalf("%s by %s: %s", base, name, answer)
			}
			if !ok {
				continue
			}
			previews[name] = withoutIDs(t, answer)
			var bucket struct{ ID string }
			made := d.send(t, exchange{
				method: http.MethodPost, path: "/api/v1/connections", key: d.world.key,
				body: `{"provider":"csv","institution_name":"` + base + `"}`,
			})
			if err := json.Unmarshal([]byte(made.body), &bucket); err != nil || bucket.ID == "" {
				t.Fatal(made.body)
			}
			accounts := []any{}
			for i, a := range previews[name]["accounts"].([]any) {
				accounts = append(accounts, map[string]any{
					"key": a.(map[string]any)["key"], "create": map[string]any{"name": base + " " + string(rune('a'+i))},
				})
			}
			answer, ok = d.answer(t, bring, string(raw), map[string]any{
				"id": bucket.ID, "accounts": accounts, "file_name": base,
			})
			var job struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(answer), &job); err != nil || !ok || len(job.Result) == 0 {
				t.Fatalf("%s by %s: %s", base, name, answer)
			}
			results[name] = withoutIDs(t, string(job.Result))
			rows := 0
			for _, a := range want.Accounts {
				rows += len(a.Rows)
			}
			if results[name]["added"] != float64(rows) {
				t.Errorf("%s by %s: added %v, want %d rows", base, name, results[name]["added"], rows)
			}
			if name == "tool" {
				takenBack(t, d, job.Result, rows)
			}
		}
		for _, name := range []string{"tool", "command"} {
			if diff := cmp.Diff(previews["REST"], previews[name]); diff != "" {
				t.Errorf("%s: the preview by REST and by %s:\n%s", base, name, diff)
			}
			if diff := cmp.Diff(results["REST"], results[name]); diff != "" {
				t.Errorf("%s: the result by REST and by %s:\n%s", base, name, diff)
			}
		}
	}
}

// takenBack reverts an import by its tool, and then reverts the revert.
func takenBack(t *testing.T, d *fileDoor, result json.RawMessage, rows int) {
	t.Helper()
	var r struct {
		Change string `json:"change_id"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	if r.Change == "" {
		if rows > 0 {
			t.Errorf("%d rows without a change", rows)
		}
		return
	}
	session := d.agent(t, d.key)
	for range 2 {
		res := callTool(t, session, "revert_change", map[string]any{"change_id": r.Change})
		var undo struct {
			Done    int `json:"transactions"`
			Results []struct {
				Revert string `json:"revert_id"`
			}
		}
		if err := json.Unmarshal([]byte(blockOf(t, res)), &undo); err != nil || res.IsError || undo.Done < rows || len(undo.Results) != 1 {
			t.Fatalf("%v %s, want %d rows", err, blockOf(t, res), rows)
		}
		r.Change = undo.Results[0].Revert
	}
}

package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/seal"
	"github.com/google/go-cmp/cmp"
)

// A story is a file of steps. Each step is an op with its arguments and the response. The test
// plays a story on three databases: as function calls, over REST, and as tools. All three must give
// the response in the file. Tools print short ids. If the contract gives a tool its own shape, the
// file contains both shapes, and every field of the tool's shape must exist in the other.
type story struct {
	title string
	steps []*step
}

type step struct {
	op     string
	args   string // JSON, with $N for the Nth id that appeared
	pick   string // path to the part of a long response that the file contains
	status int
	answer string
	tool   string // the tool's own shape
}

var stepLine = regexp.MustCompile(`^> (\S+) (\{.*\})(?: \| (\S+))?$`)

func readStory(t *testing.T, path string) *story {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{}
	var current *step
	into := &s.title
	for line := range strings.Lines(string(raw)) {
		switch m := stepLine.FindStringSubmatch(strings.TrimRight(line, "\n")); {
		case m != nil:
			current = &step{op: m[1], args: m[2], pick: m[3]}
			s.steps = append(s.steps, current)
			into = &current.answer
		case strings.HasPrefix(line, ">"):
			t.Fatalf("%s: cannot read the step %q", path, line)
		case current != nil && strings.HasPrefix(line, "< "):
			current.status, _ = strconv.Atoi(strings.TrimSpace(line[2:]))
		case current != nil && line == "tool\n":
			into = &current.tool
		default:
			*into += line
		}
	}
	return s
}

func (s *story) String() string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(s.title, "\n") + "\n")
	for _, st := range s.steps {
		fmt.Fprintf(&b, "\n> %s %s", st.op, st.args)
		if st.pick != "" {
			b.WriteString(" | " + st.pick)
		}
		fmt.Fprintf(&b, "\n< %d\n", st.status)
		if st.answer != "" {
			b.WriteString(strings.TrimRight(st.answer, "\n") + "\n")
		}
		if st.tool != "" {
			b.WriteString("tool\n" + strings.TrimRight(st.tool, "\n") + "\n")
		}
	}
	return b.String()
}

func TestStories(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			s := readStory(t, path)
			if *update {
				record(t, s)
				golden(t, path, s.String())
				return
			}
			for name, surface := range map[string]player{"function": playFunction, "rest": playREST, "tool": playTool} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					play(t, s, surface)
				})
			}
		})
	}
}

// world returns the world in which the story plays. If the title contains [key], the server has an
// encryption key.
func (s *story) world(t *testing.T) *world {
	t.Helper()
	if strings.Contains(s.title, "[key]") {
		return newWorldOn(t, pgtest.URL(t), app.Config{
			EncryptionKey: seal.NewSecret(testRing),
			PublicURL:     "https://coffer.example.org",
		})
	}
	return newWorld(t)
}

// prepare fills the world as the tags in the story's title say. [books] adds transactions, and
// [links] adds accounts that belong together. [held] lets a person decide one thing, and [jobs]
// leaves some jobs behind. With [work] a worker runs jobs, with [proposals] agents can only propose
// rules, and with [assistant] an agent is the caller.
func (s *story) prepare(t *testing.T, w *world) {
	t.Helper()
	if strings.Contains(s.title, "[jobs]") {
		w.fillJobs(t)
	}
	if strings.Contains(s.title, "[links]") {
		w.fillLinks(t)
	}
	if strings.Contains(s.title, "[proposals]") {
		w.onlyPropose(t)
	}
	if strings.Contains(s.title, "[work]") {
		w.work(t)
	}
	if strings.Contains(s.title, "[books]") {
		w.fillBooks(t)
		if strings.Contains(s.title, "[webhooks]") {
			w.fillHooks(t)
		}
		if strings.Contains(s.title, "[held]") {
			w.decide(t)
		}
		if strings.Contains(s.title, "[plans]") {
			w.fillPlans(t)
		}
	}
	if strings.Contains(s.title, "[assistant]") ||
		strings.Contains(s.title, "[books]") && !strings.Contains(s.title, "[person]") {
		// A call through a tool counts as an agent's call, whatever the key. With an agent's key
		// these stories have the same result on every surface, except for ops that agents cannot
		// call.
		w.key = w.newKey(t, auth.CreateKey{Name: "assistant", Scope: "full_access", ActorType: op.Agent}).Secret
	}
}

// decide puts the coffee of March into the category groceries, as a person.
func (w *world) decide(t *testing.T) {
	t.Helper()
	coffee, err := pg.Value[string](t.Context(), w.DB, `select short_id from transaction where date = '2026-03-05'`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(t.Context(), opNamed(t, w.Ops(), "transaction.update"), op.REST,
		map[string]any{"transaction_id": coffee, "category": "food_and_drink_groceries"}); err != nil {
		t.Fatal(err)
	}
}

// A player runs one step and returns the status and the body.
type player func(*testing.T, *world, *op.Op, map[string]any) (int, string)

func play(t *testing.T, s *story, run player) {
	t.Helper()
	w := s.world(t)
	s.prepare(t, w)
	ids := &labels{}
	for i, st := range s.steps {
		o := opNamed(t, w.Ops(), st.op)
		ids.meet(t, w, o, st, run)
		status, body := run(t, w, o, ids.args(t, st.args))
		got := ids.normal(t, o, pick(t, body, st.pick))
		want := st.answer
		if asTool := reflectsTool(o, body, run); asTool {
			want = toolAnswer(t, o, st)
			status = st.status // a tool result has no status
			if isRefusal(got) != (st.status >= 400 && (st.tool == "" || isRefusal(st.tool))) {
				t.Errorf("step %d, %s: error or not differs from status %d", i+1, st.op, st.status)
			}
		}
		if status != st.status {
			t.Errorf("step %d, %s: status %d, want %d: %s", i+1, st.op, status, st.status, got)
		}
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
			t.Errorf("step %d, %s %s (-want +got):\n%s", i+1, st.op, st.args, diff)
		}
	}
}

// record plays the story as functions and, on another database, as tools. It stores the responses
// in the steps.
func record(t *testing.T, s *story) {
	t.Helper()
	w, tools := s.world(t), s.world(t)
	s.prepare(t, w)
	s.prepare(t, tools)
	ids, toolIDs := &labels{}, &labels{}
	for _, st := range s.steps {
		o := opNamed(t, w.Ops(), st.op)
		status, body := playFunction(t, w, o, ids.args(t, st.args))
		st.status, st.answer, st.tool = status, ids.normal(t, o, pick(t, body, st.pick)), ""
		o = opNamed(t, tools.Ops(), st.op) // an op belongs to its world
		toolIDs.meet(t, tools, o, st, playTool)
		_, body = playTool(t, tools, o, toolIDs.args(t, st.args))
		got := toolIDs.normal(t, o, pick(t, body, st.pick))
		if o.Tool != "" && (o.IsShaped() && status < 400 || got != toolAnswer(t, o, st)) {
			st.tool = got
		}
	}
}

func isRefusal(answer string) bool { return strings.HasPrefix(answer, "{\n  \"error\": {") }

// reflectsTool reports whether the response came through a tool. Only then are ids short and shapes
// the tool's.
func reflectsTool(o *op.Op, _ string, run player) bool {
	return o.Tool != "" && fmt.Sprintf("%p", run) == fmt.Sprintf("%p", player(playTool))
}

// toolAnswer returns the result that the tool must give: the tool's own shape from the file, or the
// route's with short ids.
func toolAnswer(t *testing.T, o *op.Op, st *step) string {
	t.Helper()
	if o.IsShaped() && st.status < 400 && st.tool == "" {
		t.Errorf("%s: the story lacks the tool's own shape", o.ID())
	}
	if st.tool != "" {
		if o.Status != http.StatusNoContent && st.status < 400 {
			mapsOnto(t, o, st.answer, st.tool)
		}
		// The tool's own shape may be {deleted, id} where REST has no body, a list of errors where
		// REST refuses the call, or an error in the words of tools.
		return st.tool
	}
	v, ok := decode(st.answer)
	if !ok {
		return st.answer // text
	}
	shape, _ := json.Marshal(o.ToolOutput())
	// If the tool's schema has short_id, the short id is shown next to the id.
	named := strings.Contains(string(shape), `"short_id"`)
	var drop func(any) any
	drop = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			if !named {
				delete(v, "short_id")
			}
			for k := range v {
				v[k] = drop(v[k])
			}
		case []any:
			for i := range v {
				v[i] = drop(v[i])
			}
		case string:
			return strings.ReplaceAll(v, "<id ", "<short ")
		}
		return v
	}
	return pretty(drop(v))
}

// renamed maps names of a route's fields in tools' results.
var renamed = map[string]string{"display_name": "name", "hidden": "archived"}

// mapsOnto compares the two shapes of one response: every field of the tool's shape is in the
// route's, with the same value, possibly under the name in renamed.
func mapsOnto(t *testing.T, o *op.Op, rest, tool string) {
	t.Helper()
	var a, b any
	if json.Unmarshal([]byte(rest), &a) != nil || json.Unmarshal([]byte(tool), &b) != nil {
		t.Fatalf("%s: the story's two shapes are not both JSON", o.ID())
	}
	var hold func(path string, rest, tool any)
	hold = func(path string, rest, tool any) {
		switch tool := tool.(type) {
		case map[string]any:
			r, _ := rest.(map[string]any)
			for k, v := range tool {
				name := k
				if _, ok := r[k]; !ok {
					name = renamed[k]
				}
				there, ok := r[name]
				if !ok {
					t.Errorf("%s: the tool's %s.%s is not in the route's answer", o.ID(), path, k)
				}
				hold(path+"."+k, there, v)
			}
		case []any:
			r, _ := rest.([]any)
			// A tool leaves out changed items, and names the others as the caller did.
			if path == ".results" {
				r = slices.DeleteFunc(slices.Clone(r), func(v any) bool {
					m, _ := v.(map[string]any)
					return m["status"] == "changed"
				})
			}
			if len(r) != len(tool) {
				t.Errorf("%s: %s has %d items in one shape and %d in the other", o.ID(), path, len(r), len(tool))
				return
			}
			for i := range tool {
				hold(fmt.Sprintf("%s[%d]", path, i), r[i], tool[i])
			}
		case string:
			if strings.HasSuffix(path, ".message") || strings.HasSuffix(path, ".source") {
				return // a tool's caller gets the message in the words of tools
			}
			if s, _ := rest.(string); strings.ReplaceAll(s, "<id ", "<short ") != tool && tool != nobody {
				t.Errorf("%s: %s is %q in one shape and %q in the other", o.ID(), path, s, tool)
			}
		default:
			if !cmp.Equal(rest, tool) {
				t.Errorf("%s: %s is %v in one shape and %v in the other", o.ID(), path, rest, tool)
			}
		}
	}
	hold("", a, b)
}

// pick follows a path such as [0].children[1] into a JSON answer.
func pick(t *testing.T, body, path string) string {
	t.Helper()
	if path == "" || strings.HasPrefix(body, `{"error"`) {
		return body
	}
	if lines, ok := strings.CutPrefix(path, "lines:"); ok { // of a text
		n, _ := strconv.Atoi(lines)
		all := strings.SplitAfter(body, "\n")
		return strings.Join(all[:min(n, len(all))], "")
	}
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch at := v.(type) {
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				t.Fatalf("no item %s in %s", part, path)
			}
			v = at[i]
		case map[string]any:
			v = at[part]
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// TestEveryOpHasAStory: every op of the menu is in some story, because nobody has read a use case
// that no file shows.
func TestEveryOpHasAStory(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	files, _ := filepath.Glob("testdata/stories/*.txt")
	for _, path := range files {
		for _, st := range readStory(t, path).steps {
			told[st.op] = true
		}
	}
	for _, o := range app.Menu() {
		if !told[o.ID()] {
			t.Errorf("%s is in no story; write one below testdata/stories", o.ID())
		}
	}
}

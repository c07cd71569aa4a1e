package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestStructuredContentFitsItsSchema: structured content fits the tool's output schema, without
// missing or extra fields. Stories validate every tool by its schema; this test shows that the
// validation can fail.
func TestStructuredContentFitsItsSchema(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	session := w.connectTo(t, w.key, "", "/mcp/key?schemas=1")
	schemas := map[string]*jsonschema.Resolved{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.OutputSchema != nil {
			schemas[tool.Name] = closedSchema(t, tool.OutputSchema)
		}
	}
	file := blockOf(t, callTool(t, session, "export_categories", nil))
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"list_tags", map[string]any{}},
		{"create_tag", map[string]any{
			"slug": "trip:oslo", "display_name": "Oslo", "color": "#D97706", "icon": "plane",
			"description": "north",
		}},
		{"create_tag", map[string]any{"slug": "bare"}},
		{"update_tag", map[string]any{"slug": "bare", "name": "Bare"}},
		{"list_tags", map[string]any{}},
		{"delete_tag", map[string]any{"slug": "bare"}},
		{"list_categories", map[string]any{}},
		{"import_categories", map[string]any{"tsv": file, "dry_run": true}},
		{"import_categories", map[string]any{"tsv": "slug\tdisplay_name\nodds\tOdds\n"}},
		{"import_categories", map[string]any{"tsv": "slug\tdisplay_name\nnot a slug\t\n\t\n"}},
		{"list_categories", map[string]any{}},
	} {
		res := callTool(t, session, c.tool, c.args)
		if res.IsError || schemas[c.tool] == nil {
			t.Errorf("%s %v: %s", c.tool, c.args, blockOf(t, res))
			continue
		}
		if err := schemas[c.tool].Validate(res.StructuredContent); err != nil {
			t.Errorf("%s %v: %v", c.tool, c.args, err)
		}
		broken := map[string]any{"strange": true}
		maps.Copy(broken, res.StructuredContent.(map[string]any))
		if schemas[c.tool].Validate(broken) == nil || schemas[c.tool].Validate(map[string]any{}) == nil {
			t.Errorf("control: the schema of %s takes anything", c.tool)
		}
	}
}

// closedSchema parses a schema and makes it refuse fields that it does not name. For clients such
// fields are allowed.
func closedSchema(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	var seal func(any)
	seal = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, open := v["additionalProperties"]; v["properties"] != nil && !open {
				v["additionalProperties"] = false
			}
			for _, part := range v {
				seal(part)
			}
		case []any:
			for _, part := range v {
				seal(part)
			}
		}
	}
	seal(schema)
	b, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// hostileTexts returns the strings with which package text is tested.
func hostileTexts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../platform/text/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		s, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, s)
	}
	if len(list) < 90 {
		t.Fatalf("only %d hostile strings", len(list))
	}
	return list
}

var plainSlug = regexp.MustCompile(`^[a-z0-9:_-]{1,64}$`)

// TestHostileNames: hostile text as a tag's name is refused, or is returned as a JSON string and
// nowhere else. No error and no log contains it.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	session := w.connect(t, w.key, "")
	kept := map[string]string{} // by slug
	refused := 0
	for i, hostile := range hostileTexts(t) {
		for _, field := range []string{"display_name", "description", "icon"} {
			slug := fmt.Sprintf("h%d-%s", i, strings.ReplaceAll(field, "_", "-"))
			want := hostile
			if field == "description" {
				want = text.Prose(hostile, 1000).Plain() // line breaks are allowed here; hidden characters are not
			}
			if res := w.tryHostile(t, session, hostile, map[string]any{"slug": slug, field: hostile}); res == nil {
				refused++
				continue
			} else if res[field] != want {
				t.Errorf("%q came back from %s as %q, want %q", hostile, field, res[field], want)
			}
			if field != "description" && !op.IsLine(hostile) {
				t.Errorf("%q was taken as %s", hostile, field)
			}
			kept[slug] = want
		}
		if res := w.tryHostile(t, session, hostile, map[string]any{"slug": hostile}); res != nil &&
			!plainSlug.MatchString(res["slug"].(string)) {
			t.Errorf("%q was taken as a slug: %v", hostile, res)
		}
	}
	for _, key := range []string{w.key, w.reader} {
		var tags []map[string]any
		if err := json.Unmarshal([]byte(blockOf(t, callTool(t, w.connect(t, key, ""), "list_tags", nil))),
			&tags); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, tag := range tags {
			slug := tag["slug"].(string)
			if _, known := kept[slug]; !known {
				continue
			}
			if _, field, ok := strings.Cut(slug, "-"); ok {
				found[slug] = tag[strings.ReplaceAll(field, "-", "_")].(string)
			}
		}
		if diff := cmp.Diff(kept, found); diff != "" {
			t.Errorf("list_tags (-written +read):\n%s", diff)
		}
	}
	if len(kept) == 0 || refused == 0 {
		t.Errorf("control: %d kept and %d refused; both must happen", len(kept), refused)
	}
	w.notLogged(t)
	t.Logf("%d kept, %d refused", len(kept), refused)
}

// tryHostile creates a tag and returns it, or nil if the server rejects the name. The rejection
// must not repeat the text.
func (w *toolWorld) tryHostile(t *testing.T, session *mcp.ClientSession, hostile string,
	args map[string]any,
) map[string]any {
	t.Helper()
	if !utf8.ValidString(hostile) {
		return nil // JSON cannot express it
	}
	res := callTool(t, session, "create_tag", args)
	block := blockOf(t, res)
	if res.IsError {
		fault := faultOf(t, res)
		if said := fmt.Sprint(fault); len(hostile) > 6 && strings.Contains(said, hostile) {
			t.Errorf("the refusal repeats %q: %s", hostile, said)
		}
		return nil
	}
	var tag map[string]any
	if err := json.Unmarshal([]byte(block), &tag); err != nil {
		t.Fatalf("the text is no JSON: %q", block)
	}
	if diff := cmp.Diff(any(tag), res.StructuredContent); diff != "" {
		t.Errorf("text and structured content differ:\n%s", diff)
	}
	return tag
}

// notLogged checks every line of the log for the hostile texts, literally and in JSON.
func (w *toolWorld) notLogged(t *testing.T) {
	t.Helper()
	log := w.log.String()
	for _, hostile := range hostileTexts(t) {
		quoted, _ := json.Marshal(hostile)
		if len(hostile) > 6 && (strings.Contains(log, hostile) ||
			strings.Contains(log, strings.Trim(string(quoted), `"`))) {
			t.Errorf("the log has %q", hostile)
		}
	}
	if !strings.Contains(log, `"surface":"tool"`) || !strings.Contains(log, `"actor":"agent"`) ||
		strings.Contains(log, `"actor":"user"`) {
		t.Errorf("control: the log does not show calls of agents: %.300s", log)
	}
}

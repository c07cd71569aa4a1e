package all_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
)

var word = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// A spec says the same as the provider that it makes, and fits beside the others in one interface.
func TestSpecs(t *testing.T) {
	t.Parallel()
	shared := map[string]bank.Field{}
	var names []string
	for _, s := range all.Specs {
		if !word.MatchString(s.Name) || strings.Contains(s.Name, "_") || slices.Contains(names, s.Name) ||
			s.Title == "" {
			t.Errorf("%q is not a name of its own, or has no title", s.Name)
		}
		names = append(names, s.Name)
		if !s.Remote() {
			continue
		}
		if s.Kind.Name() != s.Name || s.Kind.Traits().Title != s.Title {
			t.Errorf("%s: the spec says %s, the provider %s, %s", s.Name, s.Title, s.Kind.Name(), s.Kind.Traits().Title)
		}
		if _, ok := s.Kind.(bank.Embedder); ok != strings.Contains(s.Script, "widgets."+s.Name+" = ") {
			t.Errorf("%s: a widget and the script that starts it belong together", s.Name)
		}
		if _, ok := s.Kind.(bank.Linker); ok != (s.Given != "") {
			t.Errorf("%s: Given must say what Exchange takes", s.Name)
		}
		if len(s.Fields) == 0 || !s.Fields[0].Required {
			t.Errorf("%s: the first field must be required: with it the provider is configured", s.Name)
		}
		for _, f := range s.Fields {
			checkField(t, s, f, shared)
		}
	}
}

// checkField checks a field by itself, and against the first of its name: both are one flag and one
// property.
func checkField(t *testing.T, s bank.Spec, f bank.Field, shared map[string]bank.Field) {
	t.Helper()
	if !word.MatchString(f.Name) || f.Name == "provider" || f.Doc == "" {
		t.Errorf("%s: %q is not a name of a field, or nothing documents it", s.Name, f.Name)
	}
	unknown := func(v string) bool { return !slices.Contains(bank.Environments, v) }
	if (f.Name == bank.Environment) != (len(f.Values) > 0) || slices.ContainsFunc(f.Values, unknown) {
		t.Errorf("%s: %s alone has values, all of bank.Environments", s.Name, bank.Environment)
	}
	if f.Local {
		return
	}
	if first, ok := shared[f.Name]; ok && (first.Required != f.Required || first.PEM != f.PEM ||
		first.Limit() != f.Limit()) {
		t.Errorf("%s: another provider has a field %s of another shape; choose another name", s.Name, f.Name)
	}
	shared[f.Name] = f
}

// A provider is made of the values that its fields name, and one without any is left out.
func TestConfigured(t *testing.T) {
	t.Parallel()
	for _, s := range all.Specs {
		made, err := all.Configured(map[string]bank.Values{s.Name: {}})
		if err != nil || len(made) != 0 {
			t.Errorf("%s without values: %d made, %v", s.Name, len(made), err)
		}
		if !s.Remote() {
			continue
		}
		values := bank.Values{}
		for _, f := range s.Fields {
			if values[f.Name] = f.Default(); f.Required {
				values[f.Name] = "value"
			}
		}
		made, err = all.Configured(map[string]bank.Values{s.Name: values})
		if err != nil || len(made) != 1 || made[0].Name() != s.Name {
			t.Errorf("%s with its required fields: %d made, %v", s.Name, len(made), err)
		}
	}
}

// The two enumerations differ in files alone.
func TestNames(t *testing.T) {
	t.Parallel()
	every, remote := all.Name("").Enum(), all.Remote("").Enum()
	if !slices.Equal(every, append(slices.Clone(remote), bank.CSV)) || !slices.Contains(remote, all.Default()) {
		t.Errorf("all are %q, asked are %q, the default is %s", every, remote, all.Default())
	}
	if _, ok := all.Find("nobody"); ok {
		t.Error("a provider that is not listed was found")
	}
}

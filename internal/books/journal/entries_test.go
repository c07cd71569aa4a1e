package journal

import (
	"testing"

	"coffer/internal/platform/id"
)

// A person sees the name of a definition that was created or deleted, and the differing fields of
// one that was changed.
func TestPartsOfARecord(t *testing.T) {
	t.Parallel()
	u := id.New()
	for name, c := range map[string]struct {
		before, after, from, to string // "" stands for none
	}{
		"created": {"", `{"slug":"food","name":"Food"}`, "", "food"},
		"deleted": {`{"name":"Shop"}`, "", "Shop", ""},
		"renamed": {
			`{"slug":"food","name":"Food"}`, `{"slug":"food","name":"Meals"}`,
			"name: Food", "name: Meals",
		},
		"two parts, in the order of their names": {
			`{"b":1,"a":true,"c":"same"}`, `{"b":2,"a":false,"c":"same"}`,
			"a: true, b: 1", "a: false, b: 2",
		},
		"a missing value is a dash": {`{"icon":null}`, `{"icon":"cup"}`, "icon: -", "icon: cup"},
		"an id is short": {
			`{"parent_id":null}`, `{"parent_id":"` + u.String() + `"}`,
			"parent_id: -", "parent_id: " + u.Short(),
		},
	} {
		from, to := parts(optional(c.before), optional(c.after))
		if value(from) != c.from || value(to) != c.to {
			t.Errorf("%s: from %q to %q, want %q and %q", name, value(from), value(to), c.from, c.to)
		}
	}
}

// An entry leads to its subject, and to the definition that it makes the subject refer to.
func TestLeads(t *testing.T) {
	t.Parallel()
	subject, other := id.New(), id.New()
	for name, c := range map[string]struct {
		entry Entry
		want  int
	}{
		"a tag":             {Entry{Field: FieldTag, Ref: &other}, 2},
		"a category":        {Entry{Field: FieldCategory, After: new(other.String())}, 2},
		"no category":       {Entry{Field: FieldCategory, Before: new(other.String())}, 1},
		"a comment":         {Entry{Field: FieldComment, Ref: &other, After: new("text")}, 1},
		"a whole record":    {Entry{Field: FieldRecord, After: new(`{"name":"x"}`)}, 1},
		"not an id, as was": {Entry{Field: FieldCounterparty, After: new("somebody")}, 1},
	} {
		c.entry.SubjectID = subject
		if got := c.entry.leads(); len(got) != c.want || got[0] != subject || c.want == 2 && got[1] != other {
			t.Errorf("%s leads to %v", name, got)
		}
	}
}

// Touched counts transactions, each once.
func TestTouched(t *testing.T) {
	t.Parallel()
	a, b := id.New(), id.New()
	got := Touched([]Entry{
		{Subject: Transaction, SubjectID: a, Field: FieldTag},
		{Subject: Transaction, SubjectID: a, Field: FieldCategory},
		{Subject: Transaction, SubjectID: b, Field: FieldTag},
		{Subject: Tag, SubjectID: id.New(), Field: FieldRecord},
	})
	if got != 2 {
		t.Errorf("%d transactions, want 2", got)
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

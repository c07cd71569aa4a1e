package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Tree is a JSON object whose members keep their order, so that documents read as their authors
// intended and diffs show only real changes.
type Tree []Member

// A Member is a named value of a Tree.
type Member struct {
	Key   string
	Value any
}

// Add appends a member unless its value is empty.
func (t *Tree) Add(key string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case string:
		if v == "" {
			return
		}
	case Tree:
		if len(v) == 0 {
			return
		}
	case *int:
		if v == nil {
			return
		}
		value = *v
	case []string:
		if len(v) == 0 {
			return
		}
	}
	*t = append(*t, Member{key, value})
}

// MarshalJSON implements json.Marshaler.
func (t Tree) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range t {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// YAML prints the tree as YAML. Scalars are printed as JSON, which YAML reads the same.
func (t Tree) YAML() string {
	var b strings.Builder
	writeYAML(&b, t, 0)
	return b.String()
}

func writeYAML(b *strings.Builder, v any, depth int) {
	pad := strings.Repeat("  ", depth)
	switch v := v.(type) {
	case Tree:
		for _, m := range v {
			b.WriteString(pad + yamlKey(m.Key) + ":")
			writeYAMLValue(b, m.Value, depth)
		}
	case []Tree:
		for _, item := range v {
			var inner strings.Builder
			writeYAML(&inner, item, depth+1)
			b.WriteString(pad + "- " + strings.TrimPrefix(inner.String(), pad+"  "))
		}
	default:
		panic(fmt.Sprintf("op: %T has no YAML form", v))
	}
}

func writeYAMLValue(b *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case Tree:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		writeYAML(b, v, depth+1)
	case []Tree:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		writeYAML(b, v, depth+1)
	default:
		j, err := json.Marshal(v)
		if err != nil {
			panic(err) // scalars and lists of scalars only
		}
		b.WriteString(" " + string(j) + "\n")
	}
}

func yamlKey(k string) string {
	for _, c := range k {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			j, _ := json.Marshal(k) //nolint:errchkjson // a string always encodes
			return string(j)
		}
	}
	return k
}

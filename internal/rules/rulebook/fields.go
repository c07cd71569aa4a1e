package rulebook

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A fieldSet holds the fields of a rule that are shown: one bit for each field of the record.
type fieldSet uint64

const (
	summaryFields = "name,enabled,proposed,priority,trigger,category,hit_count,last_hit_at"
	allFields     = fieldSet(1<<64 - 1)
)

// ruleFields are the names of the record's fields in order.
var ruleFields = func() (names []string) {
	for f := range reflect.TypeFor[Rule]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// fieldsNamed parses a list of fields; category means both its slug and its name.
func fieldsNamed(list string) (fieldSet, error) {
	set := bits("id", "short_id")
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); name {
		case "all":
			return allFields, nil
		case "summary":
			more, err := fieldsNamed(summaryFields)
			if err != nil {
				return 0, err
			}
			set |= more
		case "category":
			set |= bits("category_slug", "category_display_name")
		default:
			more := bits(name)
			if more == 0 {
				return 0, op.NoField(name, "rules", []string{"summary", "all", "category"}, ruleFields)
			}
			set |= more
		}
	}
	return set, nil
}

func bits(names ...string) (set fieldSet) {
	for _, n := range names {
		if i := slices.Index(ruleFields, n); i >= 0 && n != "" {
			set |= 1 << i
		}
	}
	return set
}

// MarshalJSON implements json.Marshaler for the chosen fields. A missing value of a field that the
// API declares as a plain string is the empty string.
func (r Rule) MarshalJSON() ([]byte, error) { return r.print(json.Marshal, false) }

// ShortJSON is MarshalJSON for tools, with short ids, without short_id, and with proposed only if
// it is true.
func (r Rule) ShortJSON() ([]byte, error) {
	r.ShortID = ""
	return r.print(op.Short, true)
}

func (r Rule) print(one func(any) ([]byte, error), short bool) ([]byte, error) {
	b := []byte{'{'}
	v := reflect.ValueOf(r)
	for i, name := range ruleFields {
		if name == "" || r.fields&(1<<i) == 0 || name == "short_id" && r.ShortID == "" ||
			name == "record" && r.Record == nil || name == "proposed" && short && !r.Proposed {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		value := v.Field(i).Interface()
		switch x := value.(type) {
		case id.ID:
			if x.IsZero() {
				value = ""
			}
		case *pg.Time:
			if x == nil && name == "expires_at" {
				value = ""
			}
		}
		printed, err := one(value)
		if err != nil {
			return nil, fmt.Errorf("print rule: %w", err)
		}
		b = append(append(append(append(b, '"'), name...), '"', ':'), printed...)
	}
	return append(b, '}'), nil
}

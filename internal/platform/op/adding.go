package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"coffer/internal/platform/errs"
)

// Adding limits an op for keys that may only add transactions. Such a key is stored in a phone's
// automation, where others may find it, so it must not reveal the household's data. It may send
// only these arguments and receive only these fields, even if the answer gains fields later.
type Adding struct {
	Args   []string // nil for all
	List   string   // the key of the list in an answer that is a page; "" for a record or a plain list
	Fields []string // of the record, or of each record of the list
}

// addsGiven rejects arguments that a key that may only add transactions must not send.
func (o *Op) addsGiven(a Actor, given map[string]any) error {
	if !a.OnlyAdds || o.Adds == nil || o.Adds.Args == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(o.Adds.Args, name) {
			return errs.New(errs.Forbidden, "a key that may only add transactions can't set %s here", name)
		}
	}
	return nil
}

// answerTo prints an answer for the caller.
func (o *Op) answerTo(c *Call, v any) (Answer, error) {
	a, err := o.answer(v, c.Surface)
	if err != nil || !c.Actor.OnlyAdds {
		return a, err
	}
	a.Body, err = o.Adds.narrow(a.Body)
	a.ETag, a.out = "", nil
	return a, err
}

// narrow removes everything from an answer that a key that may only add transactions must not read.
func (n *Adding) narrow(body []byte) ([]byte, error) {
	read := json.NewDecoder(bytes.NewReader(body))
	read.UseNumber() // amounts keep their decimals
	var v any
	if err := read.Decode(&v); err != nil {
		return nil, fmt.Errorf("narrow response: %w", err)
	}
	record := func(v any) any {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		maps.DeleteFunc(fields, func(name string, _ any) bool { return !slices.Contains(n.Fields, name) })
		return fields
	}
	each := func(v any) any {
		list, _ := v.([]any)
		for i := range list {
			list[i] = record(list[i])
		}
		return list
	}
	page, paged := v.(map[string]any)
	switch {
	case n.List != "" && paged:
		v = map[string]any{n.List: each(page[n.List]), "next_cursor": page["next_cursor"], "has_more": page["has_more"]}
	case paged:
		v = record(v)
	default:
		v = each(v)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("narrow response: %w", err)
	}
	return out, nil
}

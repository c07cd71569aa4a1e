package op

import (
	"encoding/json"
	"slices"
)

// Tabled turns a printed answer with a list of objects into one with columns and rows, in about
// half of the bytes. The list stays, but empty. A value that an object does not have is null.
func Tabled(body []byte, list string) []byte {
	top, err := membersOf(body)
	if err != nil {
		return body
	}
	at := slices.IndexFunc(top, func(m Member) bool { return m.Key == list })
	var objects []json.RawMessage
	if at < 0 || json.Unmarshal(rawOf(top[at]), &objects) != nil {
		return body
	}
	columns, place := []string{}, map[string]int{}
	rows := make([][]json.RawMessage, len(objects))
	for i, object := range objects {
		members, err := membersOf(object)
		if err != nil {
			return body
		}
		for _, m := range members {
			if _, known := place[m.Key]; !known {
				place[m.Key] = len(columns)
				columns = append(columns, m.Key)
			}
			for len(rows[i]) <= place[m.Key] {
				rows[i] = append(rows[i], json.RawMessage("null"))
			}
			rows[i][place[m.Key]] = rawOf(m)
		}
	}
	for i := range rows {
		for len(rows[i]) < len(columns) {
			rows[i] = append(rows[i], json.RawMessage("null"))
		}
	}
	top[at].Value = json.RawMessage("[]")
	return printed(append(Tree{{"columns", columns}, {"rows", rows}}, top...))
}

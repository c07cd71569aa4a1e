package bank_test

import (
	"encoding/json"
	"testing"

	"coffer/internal/bank"
)

// An OptionalString is what a decoder makes of a string, and empty for any other value.
func TestOptionalString(t *testing.T) {
	t.Parallel()
	for _, token := range []string{
		`""`, `"plain"`, `"Zürich ÅÄÖ 東京"`, `"a\"b"`, `"a\\"`, `"\u00e9\n"`, "\"broken \xff\xc3 text\"",
		"\"\xed\xa0\x80\"", `"\ud800"`, `"ends in \\\""`,
		`7`, `-1.5e3`, `true`, `null`, `[]`, `["a"]`, `{"a":"b"}`, ` "spaced" `,
	} {
		var want string
		if json.Unmarshal([]byte(token), &want) != nil {
			want = ""
		}
		var in struct{ V bank.OptionalString }
		if err := json.Unmarshal([]byte(`{"V":`+token+`}`), &in); err != nil || string(in.V) != want {
			t.Errorf("%s: %q, want %q, %v", token, in.V, want, err)
		}
	}
}

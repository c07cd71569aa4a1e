package text_test

import (
	"encoding/json"
	"fmt"

	"coffer/internal/platform/text"
)

func Example() {
	name := text.Name("  REFUND\u202e\x1b[31m   click\u200b here ")

	out, _ := json.Marshal(map[string]text.Untrusted{"name": name})
	fmt.Println(string(out))
	fmt.Println(fmt.Errorf("no rule matches %s", name))
	// Output:
	// {"name":"REFUND click here"}
	// no rule matches "[text 17 runes]"
}

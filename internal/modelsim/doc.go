// Package modelsim simulates model servers as a loopback server that speaks Anthropic's Messages
// and OpenAI's chat completions, for tests and the demo. It must not know the clients that it
// checks, nor share code with them: it is written from the servers' side.
//
// A model is a [Script]: a function from the conversation to an answer. The server checks what real
// servers check: the key, that the model's own messages come back unchanged, that every call has
// its result. Faults are scripted, too:
//
//	looks := func(r modelsim.Request) modelsim.Answer {
//		if len(r.Results()) == 0 {
//			return modelsim.Use("list_accounts", map[string]any{})
//		}
//		return modelsim.Say("done")
//	}
//	sim, err := modelsim.New(modelsim.Options{Key: "key", Script: looks})
//	sim.Fail(modelsim.Fault{Status: 529, Times: 2}) // the first two calls fail
package modelsim

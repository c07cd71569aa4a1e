// Package models simulates model servers as a loopback server that speaks Anthropic's Messages
// and OpenAI's chat completions, for tests and the demo. It must not know the clients that it
// checks, nor share code with them: it is written from the servers' side.
//
// A model is a [Script]: a function from the conversation to an answer. The server checks what real
// servers check: the key, that the model's own messages come back unchanged, that every call has
// its result. Faults are scripted, too:
//
//	looks := func(r models.Request) models.Answer {
//		if len(r.Results()) == 0 {
//			return models.Use("list_accounts", map[string]any{})
//		}
//		return models.Say("done")
//	}
//	sim, err := models.New(models.Options{Key: "key", Script: looks})
//	sim.Fail(models.Fault{Status: 529, Times: 2}) // the first two calls fail
package models

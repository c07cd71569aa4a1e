package conformance_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inputTools adds tools that need input from the client before they can respond. Since 2026-07-28 a
// server does not call the client: its response names the missing input, and the client repeats the
// call with it.
func inputTools(s *mcp.Server) {
	const prefix = "test_input_required_result_"
	add(s, prefix+"elicitation", anyObject, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		if name := answer(req.Params.InputResponses, "user_name", "name"); name != "" {
			return result(text("the household of " + name)), nil
		}
		return ask("", mcp.InputRequestMap{"user_name": form("Who lives here?", "name", "string")}), nil
	})
	add(s, prefix+"sampling", anyObject, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		if reply, ok := sampled(req.Params.InputResponses, "guess"); ok {
			return result(text("the model guesses: " + reply)), nil
		}
		return ask("", mcp.InputRequestMap{"guess": sample("Which category is a bakery?")}), nil
	})
	add(s, prefix+"list_roots", anyObject, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult,
		error,
	) {
		if roots, ok := listed(req.Params.InputResponses, "folders"); ok {
			return result(text("folders: " + strings.Join(roots, ", "))), nil
		}
		return ask("", mcp.InputRequestMap{"folders": &mcp.ListRootsParams{}}), nil //nolint:staticcheck // deprecated, and still in a scenario
	})
	add(s, prefix+"request_state", anyObject, confirmed)
	add(s, prefix+"tampered_state", anyObject, confirmed)
	add(s, prefix+"multiple_inputs", anyObject, threeInputs)
	add(s, prefix+"multi_round", anyObject, twoRounds)
	add(s, prefix+"capabilities", anyObject, whatIsDeclared)
	s.AddPrompt(&mcp.Prompt{Name: prefix + "prompt", Description: "Fixture of the conformance suite"},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if c := answer(req.Params.InputResponses, "period", "context"); c != "" {
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
					Role:    "user",
					Content: text("Sum up " + c + "."),
				}}}, nil
			}
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"period": form("Which period?", "context",
				"string")}}, nil
		})
}

func confirmed(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState != "" {
		if _, ok := opened(req.Params.RequestState); !ok {
			return nil, forged
		}
		if accepted(req.Params.InputResponses, "confirm") != nil {
			return result(text("state-ok")), nil // the suite expects this word
		}
	}
	return ask("asked", mcp.InputRequestMap{"confirm": form("Shall I?", "ok", "boolean")}), nil
}

func threeInputs(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := req.Params.InputResponses
	name := answer(in, "owner", "name")
	guess, guessed := sampled(in, "guess")
	folders, found := listed(in, "folders")
	if name != "" && guessed && found {
		return result(text(fmt.Sprintf("%s, %s, %d folders", name, guess, len(folders)))), nil
	}
	return ask("asked", mcp.InputRequestMap{
		"owner": form("Whose is it?", "name", "string"), "guess": sample("What may it be?"),
		"folders": &mcp.ListRootsParams{}, //nolint:staticcheck // deprecated, and still in a scenario
	}), nil
}

func twoRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	state, ok := opened(req.Params.RequestState)
	if req.Params.RequestState != "" && !ok {
		return nil, forged
	}
	round, name, _ := strings.Cut(state, " ")
	switch round {
	case "":
		return ask("first", mcp.InputRequestMap{"payee": form("Who was paid?", "name", "string")}), nil
	case "first":
		name = answer(req.Params.InputResponses, "payee", "name")
		return ask("second "+name, mcp.InputRequestMap{"paint": form("Which color shall the tag have?", "color",
			"string")}), nil
	}
	return result(text(name + " is tagged " + answer(req.Params.InputResponses, "paint", "color"))), nil
}

// whatIsDeclared requests only input that the client has declared it can give.
func whatIsDeclared(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	requests := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil {
		if caps.Elicitation != nil {
			requests["owner"] = form("Whose is it?", "name", "string")
		}
		if caps.Sampling != nil { //nolint:staticcheck // the scenario declares this deprecated capability
			requests["guess"] = sample("What may it be?")
		}
	}
	if len(requests) == 0 || len(req.Params.InputResponses) > 0 {
		return result(text("nothing more to ask")), nil
	}
	return ask("", requests), nil
}

// Building requests.

func ask(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
	res := &mcp.CallToolResult{InputRequests: requests}
	if state != "" {
		res.RequestState = signed(state)
	}
	return res
}

func form(message, field, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field)
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

//nolint:staticcheck // deprecated, and still in scenarios
func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: text(prompt)}},
		MaxTokens: 20,
	}
}

// Reading responses.

func accepted(in mcp.InputResponseMap, key string) map[string]any {
	if res, ok := in[key].(*mcp.ElicitResult); ok && res != nil && res.Action == "accept" {
		return res.Content
	}
	return nil
}

func answer(in mcp.InputResponseMap, key, field string) string {
	v, _ := accepted(in, key)[field].(string)
	return v
}

//nolint:staticcheck // deprecated, and still in scenarios
func sampled(in mcp.InputResponseMap, key string) (string, bool) {
	res, ok := in[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || res == nil {
		return "", false
	}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text, true
		}
	}
	return "", false
}

//nolint:staticcheck // deprecated, and still in a scenario
func listed(in mcp.InputResponseMap, key string) ([]string, bool) {
	res, ok := in[key].(*mcp.ListRootsResult)
	if !ok || res == nil {
		return nil, false
	}
	var uris []string
	for _, r := range res.Roots {
		uris = append(uris, r.URI)
	}
	return uris, true
}

// The request state is signed, because the client could change it.

var (
	stateKey = []byte(rand.Text())
	forged   = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this request state is none of ours"}
)

func signed(state string) string {
	m := hmac.New(sha256.New, stateKey)
	m.Write([]byte(state))
	return base64.RawURLEncoding.EncodeToString([]byte(state)) + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func opened(token string) (string, bool) {
	head, _, _ := strings.Cut(token, ".")
	state, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil || !hmac.Equal([]byte(token), []byte(signed(string(state)))) {
		return "", false
	}
	return string(state), true
}

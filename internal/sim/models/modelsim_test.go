package models_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/sim/models"
)

func start(t *testing.T, o models.Options) *models.Server {
	t.Helper()
	sim, err := models.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

// post sends a body as any client would.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Requests that real servers reject are rejected, and valid ones are not.
func TestRefused(t *testing.T) {
	t.Parallel()
	sim := start(t, models.Options{Script: models.Sequence(models.Say("ok"))})
	const user, call = `{"role":"user","content":"u"}`, `{"role":"assistant","content":null,` +
		`"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for body, want := range map[string]int{
		`{"model":"m","messages":[` + user + `]}`:              200,
		`{"model":"m","messages":[]}`:                          400,
		`{"model":"m","messages":[` + user + `,` + call + `]}`: 400,
		`{"model":"m","messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"a","content":"x"}]}`: 200,
		`{"model":"m","messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"b","content":"x"}]}`: 400,
		`{"model":"m","messages":[` + user + `,` + call + `,` + user + `]}`:                                     400,
		`{"model":"gpt-5","temperature":1,"messages":[` + user + `]}`:                                           400,
		`{"model":"m","temperature":1,"messages":[` + user + `]}`:                                               200,
		`{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[` + user + `]}`:                      400,
		`nonsense`: 400,
	} {
		if got, said := post(t, sim.URL()+"/v1/chat/completions", body); got != want {
			t.Errorf("%s: %d, want %d: %s", body, got, want, said)
		}
	}
	for body, want := range map[string]int{
		`{"model":"m","max_tokens":9,"messages":[` + user + `]}`:                                                                      200,
		`{"model":"m","messages":[` + user + `]}`:                                                                                     400,
		`{"model":"claude-opus-5-5","max_tokens":9,"tool_choice":{"type":"any"},"messages":[` + user + `]}`:                           400,
		`{"model":"claude-sonnet-5","max_tokens":9,"thinking":{"budget_tokens":9},"messages":[` + user + `]}`:                         400,
		`{"model":"claude-haiku-4.5","max_tokens":9,"top_p":1,"tool_choice":{"type":"any"},"messages":[` + user + `]}`:                200,
		`{"model":"m","max_tokens":9,"messages":[` + user + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"q"}]}]}`: 400,
	} {
		if got, said := post(t, sim.URL()+"/v1/messages", body); got != want {
			t.Errorf("%s: %d, want %d: %s", body, got, want, said)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	sim := start(t, models.Options{Models: []string{"one"}})
	resp, err := http.Get(sim.URL() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Data) != 1 || list.Data[0].ID != "one" {
		t.Errorf("%+v, %v", list, err)
	}
}

// An answer that is longer than the request allows is cut off, and the server reports that.
func TestLimitIsHonoured(t *testing.T) {
	t.Parallel()
	sim := start(t, models.Options{Script: models.Sequence(models.Say(strings.Repeat("word ", 100)))})
	_, said := post(t, sim.URL()+"/v1/messages", `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"u"}]}`)
	if !strings.Contains(said, `"stop_reason":"max_tokens"`) || len(said) > 400 {
		t.Error(said)
	}
}

var decide = models.Tool{Name: "decide", Schema: json.RawMessage(`{"properties":{"code":{},"rows":{}}}`)}

func TestDictionaryFilesSheets(t *testing.T) {
	t.Parallel()
	r := models.Request{
		System: "Code QXTF.\nDecide each row.", Tools: []models.Tool{decide},
		Messages: []models.Message{{Role: "user", Text: `categories: food_and_drink_groceries, services_software_x
rows: [{"row":1,"date":"2026-01-02","amount":"12.50","cur":"EUR","name":"REWE MARKT {x} GMBH","account":"Giro"},
{"row":2,"amount":3,"name":"GITHUB INC","before":[]},
{"row":3,"name":"REWE","before":[["shopping_other",3,"user"],["a",9,"rule"]]},
{"row":4,"name":"somebody"}]`}},
	}
	s, ok := r.Sheet()
	if !ok || s.Code != "QXTF" || len(s.Rows) != 4 {
		t.Fatalf("%+v", s)
	}
	var got struct {
		Code string
		Rows []models.Decision
	}
	a := models.Dictionary(r)
	if err := json.Unmarshal([]byte(a.Calls[0].Arguments), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"food_and_drink_groceries", "", "shopping_other", ""} // services_software is not listed
	for i, d := range got.Rows {
		if d.Category != want[i] || d.Sure != (want[i] != "") || d.Row != i+1 || d.Note == "" {
			t.Errorf("row %d: %+v", i+1, d)
		}
	}
	if got.Code != "QXTF" || len(got.Rows) != 4 {
		t.Errorf("%+v", got)
	}
}

func TestDictionaryReturnsTheCodeOfATest(t *testing.T) {
	t.Parallel()
	tool := models.Tool{Name: "confirm", Schema: json.RawMessage(`{"properties":{"code":{}},"required":["code"]}`)}
	a := models.Dictionary(models.Request{
		System: "The code is QXTF.\n", Tools: []models.Tool{tool},
		Messages: []models.Message{{Role: "user", Text: "Go on."}},
	})
	if len(a.Calls) != 1 || a.Calls[0].Arguments != `{"code":"QXTF"}` {
		t.Errorf("%+v", a)
	}
}

package llm

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// An Adaption is a change of requests that a server requires, as its rejection shows.
type Adaption struct {
	Name  string
	Parts []string // the server's message contains all of these, in lower case
	Note  string   // describes the change
}

// An Adapter makes each adaption of a table at most once per model, and remembers it for later
// requests.
type Adapter struct {
	Table []Adaption

	mu   sync.Mutex
	made map[string][]string // names by model
}

// Ask calls try until the server accepts the request, or rejects it for a reason that is not in the
// table. try gets the names of the adaptions to make. Its error carries the server's message in
// [RejectedError].
func (a *Adapter) Ask(model string, try func(made []string) (Reply, error)) (Reply, error) {
	var notes []string
	for {
		made := a.known(model)
		r, err := try(made)
		if err == nil {
			r.Notes = append(notes, r.Notes...)
			return r, nil
		}
		rejected, ok := errors.AsType[*RejectedError](err)
		if !ok {
			return Reply{}, err
		}
		next, ok := a.next(rejected.Message, made)
		if !ok {
			return Reply{}, rejected.Err
		}
		notes = append(notes, next.Note)
		a.learn(model, next.Name)
	}
}

// maxModels limits how many models are remembered. Names of models come from settings and callers.
const maxModels = 100

func (a *Adapter) known(model string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.made[model])
}

func (a *Adapter) learn(model, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made == nil || len(a.made) > maxModels {
		a.made = map[string][]string{}
	}
	if !slices.Contains(a.made[model], name) {
		a.made[model] = append(a.made[model], name)
	}
}

func (a *Adapter) next(message string, made []string) (Adaption, bool) {
	message = strings.ToLower(message)
	for _, t := range a.Table {
		missing := func(part string) bool { return !strings.Contains(message, part) }
		if !slices.Contains(made, t.Name) && !slices.ContainsFunc(t.Parts, missing) {
			return t, true
		}
	}
	return Adaption{}, false
}

// A RejectedError is the error for a request that the server did not accept, with the server's
// message.
type RejectedError struct {
	Err     *Error
	Message string
}

func (r *RejectedError) Error() string { return r.Err.Error() }

// Unwrap returns the classified failure.
func (r *RejectedError) Unwrap() error { return r.Err }

// Reject returns the error of an answer with an error status. If the server did not accept the
// request, that is a RejectedError, and the client may adapt the request.
func (h *Host) Reject(a *Answer) error {
	e, message := h.Refusal(a)
	e.RequestID = RequestID(a.Header)
	if e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity {
		return &RejectedError{e, message}
	}
	return e
}

package signin

import (
	"encoding/json"
	"fmt"
	"net/http"

	"coffer/internal/op"
)

// What the desk does for the packages below it, which have pages of their own.

// Page makes a route of a page: an error becomes an error page, and what is posted must come from a page of ours.
func (d *Desk) Page(f func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return d.page(f)
}

// Member is who is signed in; nobody is sent to sign in first, and comes back: to the page itself, or where a form came from.
func (d *Desk) Member(w http.ResponseWriter, r *http.Request, form string) (actor op.Actor, ok bool, err error) {
	return d.member(w, r, form)
}

// Proven says whether the member has proven who they are within the last minutes. Who has not is asked to, and comes back to where the form came from.
func (d *Desk) Proven(w http.ResponseWriter, r *http.Request, actor op.Actor, form string) bool {
	return d.proven(w, r, actor, form)
}

// Answer answers a program with JSON.
func Answer(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a caller that has gone needs no answer
	return nil
}

// Refuse answers an error as RFC 6749 has it.
func Refuse(w http.ResponseWriter, status int, code, description string) error {
	w.Header().Set("Pragma", "no-cache")
	return Answer(w, status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{code, description})
}

// Address is where a request comes from.
func Address(r *http.Request) string { return address(r) }

package signin

import (
	"encoding/json"
	"fmt"
	"net/http"

	"coffer/internal/platform/op"
)

// These functions of the desk are for packages that have their own pages.

// Page turns a page into a route: an error becomes an error page, and a POST must come from a page
// of coffer.
func (d *Desk) Page(f func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return d.page(f)
}

// Member returns the signed-in member. If there is none, it redirects to /login, which returns to
// this page (GET) or to form (POST).
func (d *Desk) Member(w http.ResponseWriter, r *http.Request, form string) (actor op.Actor, ok bool, err error) {
	return d.member(w, r, form)
}

// Proven reports whether the member has proven who they are within the last minutes. If not, it
// redirects to /login, which returns to form.
func (d *Desk) Proven(w http.ResponseWriter, r *http.Request, actor op.Actor, form string) bool {
	return d.proven(w, r, actor, form)
}

// Answer sends v as JSON.
func Answer(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write response: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has disconnected needs no answer
	return nil
}

// Refuse sends an error in the form of RFC 6749.
func Refuse(w http.ResponseWriter, status int, code, description string) error {
	w.Header().Set("Pragma", "no-cache")
	return Answer(w, status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{code, description})
}

// Address returns the address that a request comes from.
func Address(r *http.Request) string { return address(r) }

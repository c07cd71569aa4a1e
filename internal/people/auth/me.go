package auth

import (
	"context"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// myOps are the ops on the signed-in member's own records, for every role. They require only
// read_only, because a viewer must also be able to end sessions and revoke assistants.
func (a *Auth) myOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "me.sessions", Route: "GET /users/me/sessions", Own: true,
			Summary: "Lists your sessions, newest first.",
		}, a.mySessions),
		op.Writing(op.Spec{
			Name: "me.end-session", Route: "DELETE /users/me/sessions/{session_id}", Own: true, Scope: op.Read,
			Summary: "Ends one of your sessions, effective from the next request.",
		}, a.endMySession),
		op.Reading(op.Spec{
			Name: "me.login-methods", Route: "GET /users/me/login", Own: true,
			Summary: "Lists your sign-in methods, with the number of your recovery codes, API keys and assistants.",
		}, a.myLogins),
		op.Writing(op.Spec{
			Name: "me.end-login-method", Route: "DELETE /users/me/login/{login_id}", Own: true, Scope: op.Read,
			Summary: "Removes one of your sign-in methods, except the last one, and ends your other sessions.",
		}, a.endOwnLogin),
		op.Reading(op.Spec{
			Name: "me.assistants", Route: "GET /users/me/assistants", Own: true,
			Summary: "Lists the assistants that you connected, newest first.",
		}, a.myAssistants),
		op.Writing(op.Spec{
			Name: "me.end-assistant", Route: "DELETE /users/me/assistants/{assistant_id}", Own: true, Scope: op.Read,
			Summary: "Ends an assistant's access, effective from the next request.",
		}, a.endMyAssistant),
	}
}

// ListOwn is the request for a page of the member's own records.
type ListOwn struct {
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// of returns the request that the ops for admins use for the same page of the signed-in member.
func (in ListOwn) of(ctx context.Context) ListLogins {
	return ListLogins{UserID: op.ActorOf(ctx).Member.String(), Cursor: in.Cursor, Limit: in.Limit}
}

// OwnLogin identifies a sign-in method of the caller.
type OwnLogin struct {
	LoginID string `json:"login_id" minLength:"1" doc:"The sign-in method's UUID or short id"`
}

// OwnSession identifies a session of the caller.
type OwnSession struct {
	SessionID string `json:"session_id" minLength:"1" doc:"The session's UUID or short id"`
}

// OwnAssistant identifies an assistant that the caller allowed.
type OwnAssistant struct {
	AssistantID string `json:"assistant_id" minLength:"1" doc:"The assistant's UUID or short id"`
}

func (a *Auth) mySessions(ctx context.Context, q pg.Querier, in ListOwn) (Sessions, error) {
	return a.Sessions(ctx, q, in.of(ctx))
}

func (a *Auth) endMySession(ctx context.Context, tx pg.Tx, in OwnSession) (op.Deleted, error) {
	deleted, err := endSession(ctx, tx, *op.ActorOf(ctx).Member, in.SessionID)
	return deleted, pg.Found(err, "session", "{me.sessions} lists them")
}

func (a *Auth) myLogins(ctx context.Context, q pg.Querier, in ListOwn) (Logins, error) {
	return a.Logins(ctx, q, in.of(ctx))
}

func (a *Auth) myAssistants(ctx context.Context, q pg.Querier, in ListOwn) (Assistants, error) {
	return a.Assistants(ctx, q, in.of(ctx))
}

func (a *Auth) endMyAssistant(ctx context.Context, tx pg.Tx, in OwnAssistant) (op.Deleted, error) {
	consent, err := assistantOf(ctx, tx, *op.ActorOf(ctx).Member, in.AssistantID)
	if err != nil {
		return op.Deleted{}, pg.Found(err, "assistant", "{me.assistants} lists them")
	}
	return op.Deleted{Deleted: true, ID: consent}, endFamily(ctx, tx, consent)
}

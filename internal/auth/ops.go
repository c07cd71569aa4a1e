package auth

import "coffer/internal/op"

// Ops is auth's menu. No tool for keys is on it: an agent has no business with them. Deleting a user is feed's, which sees what a user owns.
func (a *Auth) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "key.me", Route: "GET /keys/me", Scope: op.AnyKey, Summary: "Shows who the calling key is and what it may do."}, a.Me),
		op.Reading(op.Spec{Name: "key.list", Route: "GET /api-keys", Scope: op.Full, Summary: "Lists API keys, newest first, revoked ones included."}, a.List),
		op.Writing(op.Spec{Name: "key.create", Route: "POST /api-keys", Summary: "Makes an API key and shows it this once."}, a.Create),
		op.Reading(op.Spec{Name: "key.get", Route: "GET /api-keys/{id}", Scope: op.Full, Summary: "Shows one API key, without the key itself."}, a.Get),
		op.Writing(op.Spec{Name: "key.update", Route: "PATCH /api-keys/{id}", Summary: "Changes an API key's name, actor name, expiry or daily limit."}, a.Patch),
		op.Writing(op.Spec{Name: "key.revoke", Route: "DELETE /api-keys/{id}", Summary: "Revokes an API key from the next request on."}, a.Revoke),
		op.Reading(op.Spec{
			Name: "user.list", Route: "GET /users", Tool: "list_users", Summary: "Lists the members of the household.",
			Agent: "Lists the members of the household. Use a member's id as user_id to find that person's transactions.",
		}, a.Users),
		op.Writing(op.Spec{Name: "user.create", Route: "POST /users", Summary: "Adds a member to the household."}, a.CreateUser),
		op.Reading(op.Spec{Name: "user.get", Route: "GET /users/{id}", Summary: "Shows one member of the household."}, a.User),
		op.Writing(op.Spec{Name: "user.update", Route: "PATCH /users/{id}", Summary: "Changes a member's name, e-mail address or role."}, a.PatchUser),
		op.Reading(op.Spec{Name: "login-method.list", Route: "GET /users/{user_id}/login", Scope: op.Full, Summary: "Lists the ways in which a member can sign in."}, a.Logins),
		op.Calling(op.Spec{Name: "login-method.create", Route: "POST /users/{user_id}/login", Summary: "Gives a member a password, or the account of an identity provider, to sign in with."},
			a.chosen, a.CreateLogin),
		op.Calling(op.Spec{Name: "login-method.update", Route: "PATCH /users/{user_id}/login/{login_id}", Summary: "Changes a member's password, or the name of a way in."},
			a.changed, a.PatchLogin),
		op.Writing(op.Spec{Name: "login-method.delete", Route: "DELETE /users/{user_id}/login/{login_id}", Summary: "Takes a way in from a member; the last one of the last admin stays."}, a.DeleteLogin),
		op.Reading(op.Spec{Name: "session.list", Route: "GET /users/{user_id}/sessions", Scope: op.Full, Summary: "Lists where a member is signed in, newest first."}, a.Sessions),
		op.Writing(op.Spec{Name: "session.revoke", Route: "DELETE /users/{user_id}/sessions/{session_id}", Summary: "Signs a member out there, from the next request on."}, a.RevokeSession),
		op.Reading(op.Spec{Name: "assistant.list", Route: "GET /users/{user_id}/assistants", Scope: op.Full, Summary: "Lists the programs that a member let in at /mcp, newest first."}, a.Assistants),
		op.Writing(op.Spec{Name: "assistant.revoke", Route: "DELETE /users/{user_id}/assistants/{assistant_id}", Summary: "Ends what a member granted a program, from the next request on."}, a.RevokeAssistant),
	}
}

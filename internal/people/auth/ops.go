package auth

import "coffer/internal/platform/op"

// Ops returns the operations of auth. There are no tools for keys, because agents must not manage
// them. Deleting a user is an operation of package archive, which knows what a user owns.
func (a *Auth) Ops() []*op.Op {
	return append(append(a.myOps(), a.calendarOps()...),
		op.Reading(op.Spec{
			Name: "key.me", Route: "GET /keys/me", Scope: op.AnyKey,
			Summary: "Shows the calling key and its permissions.",
		}, a.Me),
		op.Reading(op.Spec{
			Name: "key.list", Route: "GET /api-keys", Scope: op.Full,
			Summary: "Lists API keys, including revoked ones, newest first.",
		}, a.List),
		op.Writing(op.Spec{
			Name: "key.create", Route: "POST /api-keys", People: op.PeopleAlways,
			Summary: "Creates an API key and shows it once.",
		}, a.Create),
		op.Reading(op.Spec{
			Name: "key.get", Route: "GET /api-keys/{id}", Scope: op.Full,
			Summary: "Shows one API key, without the key itself.",
		}, a.Get),
		op.Writing(op.Spec{
			Name: "key.update", Route: "PATCH /api-keys/{id}", People: op.PeopleAlways,
			Summary: "Changes an API key's name, actor name, expiry or daily limit.",
		}, a.Patch),
		op.Writing(op.Spec{
			Name: "key.revoke", Route: "DELETE /api-keys/{id}", People: op.PeopleOthers,
			Summary: "Revokes an API key, effective from the next request.",
		}, a.Revoke),
		op.Reading(op.Spec{
			Name: "user.list", Route: "GET /users", Tool: "list_users", Summary: "Lists the members of the household.",
			Agent: "Lists the members of the household. Use a member's id as user_id to find that person's " +
				"transactions.",
		}, a.Users),
		op.Writing(op.Spec{
			Name: "user.create", Route: "POST /users", People: op.PeopleAlways,
			Summary: "Adds a member to the household, optionally with an invitation.",
		}, a.AddUser),
		op.Reading(op.Spec{Name: "user.get", Route: "GET /users/{id}", Summary: "Shows one member of the household."},
			a.User),
		op.Writing(op.Spec{
			Name: "user.update", Route: "PATCH /users/{id}", People: op.PeopleAlways,
			Summary: "Changes a member's name, email or role.",
		}, a.PatchUser),
		op.Writing(op.Spec{
			Name: "user.invite", Route: "POST /users/{id}/invitation", People: op.PeopleAlways,
			Summary: "Creates an invitation link to set up a password or passkey; it is shown once and valid " +
				"for seven days.",
		}, a.Invite),
		op.Writing(op.Spec{
			Name: "user.uninvite", Route: "DELETE /users/{id}/invitation", People: op.PeopleAlways,
			Summary: "Cancels a member's invitation.",
		}, a.Uninvite),
		op.Reading(op.Spec{
			Name: "login-method.list", Route: "GET /users/{user_id}/login", Scope: op.Full,
			Summary: "Lists a member's sign-in methods, with the number of recovery codes, API keys and assistants.",
		},
			a.Logins),
		op.Calling(op.Spec{
			Name: "login-method.create", Route: "POST /users/{user_id}/login", People: op.PeopleAlways,
			Summary: "Adds a sign-in method for a member: a password or an account at an identity provider.",
		},
			a.chosen, a.CreateLogin),
		op.Calling(op.Spec{
			Name: "login-method.update", Route: "PATCH /users/{user_id}/login/{login_id}",
			People: op.PeopleAlways, Summary: "Changes a member's password, or the name of a sign-in method.",
		},
			a.changed, a.PatchLogin),
		op.Writing(op.Spec{
			Name: "login-method.delete", Route: "DELETE /users/{user_id}/login/{login_id}",
			People:  op.PeopleAlways,
			Summary: "Removes a sign-in method of a member, except the last one of the only admin.",
		}, a.DeleteLogin),
		op.Writing(op.Spec{
			Name: "login-method.drop-codes", Route: "DELETE /users/{user_id}/recovery-codes",
			People: op.PeopleAlways, Summary: "Removes all recovery codes of a member.",
		}, a.DropCodes),
		op.Reading(op.Spec{
			Name: "session.list", Route: "GET /users/{user_id}/sessions",
			Summary: "Lists a member's sessions, newest first.",
		}, a.Sessions),
		op.Writing(op.Spec{
			Name: "session.revoke", Route: "DELETE /users/{user_id}/sessions/{session_id}",
			People: op.PeopleOthers, Summary: "Ends one of a member's sessions, effective from the next request.",
		},
			a.RevokeSession),
		op.Reading(op.Spec{
			Name: "assistant.list", Route: "GET /users/{user_id}/assistants",
			Summary: "Lists the assistants that a member connected, newest first.",
		}, a.Assistants),
		op.Writing(op.Spec{
			Name: "assistant.revoke", Route: "DELETE /users/{user_id}/assistants/{assistant_id}",
			People: op.PeopleOthers, Summary: "Ends an assistant's access, effective from the next request.",
		},
			a.RevokeAssistant),
	)
}

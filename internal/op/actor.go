package op

import "coffer/internal/id"

// An Actor is the caller: every write is attributed to it, and it says what the call may do.
type Actor struct {
	Type  string // user, agent or system
	ID    id.ID
	Name  string
	Scope Scope

	Key     *id.ID // the API key that was used, if one was
	Session *id.ID // the session that was used, if one was
	Token   *id.ID // the access token that was used, if one was
	// Run is the workflow run that acts, if one does. A run has no credential: it is ID itself.
	Run *id.ID
	// Member is the member who acts: the one who signed in, or the key's owner; nil for a key
	// without an owner.
	Member *id.ID
	Role   string // of that member
	// Proved says that the member of a session has proved their identity within the last minutes.
	Proved bool
	// Administers says that a person gave this agent's key the rights that are otherwise reserved
	// for people.
	Administers bool
	// Bond is derived from the credential's text, which is stored nowhere. It encrypts what is kept
	// for this caller alone.
	Bond [32]byte
}

// The roles of members. A viewer may only read, and Op.Admin reserves some writes for admins.
const (
	RoleAdmin  = "admin"
	RoleMember = "member"
	RoleViewer = "viewer"
)

// credential identifies this caller's repeated calls. The next session of the same member has
// another bond and counts as another caller.
func (a Actor) credential() id.ID {
	if a.Session != nil {
		return *a.Session
	}
	if a.Token != nil { // so has the next token of a family
		return *a.Token
	}
	return a.ID
}

// The types of actors.
const (
	User   = "user"
	Agent  = "agent"
	System = "system"
)

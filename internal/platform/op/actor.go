package op

import (
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
)

// An Actor is the caller: every write is attributed to it, and it determines what the call may do.
type Actor struct {
	Type  string // user, agent or system
	ID    id.ID
	Name  string
	Scope Scope

	Key     *id.ID // the API key that was used, if one was
	Session *id.ID // the session that was used, if one was
	Token   *id.ID // the access token that was used, if one was
	// Run is the workflow run that makes the call, if any. A run has no credential: its id is the
	// actor's ID.
	Run *id.ID
	// Member is the member who makes the call: the one who signed in, or the key's owner. It is nil
	// for a key without an owner.
	Member *id.ID
	Role   string // of that member
	// Proved means that the member of a session has proved their identity within the last minutes.
	Proved bool
	// Plain means that the session's secret crossed the network over plain HTTP, where others can
	// read it. Such a session has no admin rights, and it does not prove the member's identity.
	Plain bool
	// Administers means that a person gave this agent's key the rights that are otherwise reserved
	// for people.
	Administers bool
	// OnlyAdds means that the key may only call ops with Spec.Adds.
	OnlyAdds bool
	// Bond is derived from the credential's text, which is not stored anywhere. It encrypts data
	// that is kept for this caller alone.
	Bond [32]byte
}

// The roles of members. A viewer may only read, and Op.Admin reserves some writes for admins.
const (
	RoleAdmin  = "admin"
	RoleMember = "member"
	RoleViewer = "viewer"
)

// credential returns the id under which the answers of idempotency keys are stored for this caller.
// The member's next session has another bond and counts as another caller.
func (a Actor) credential() id.ID {
	if a.Session != nil {
		return *a.Session
	}
	if a.Token != nil { // the next token of a family also counts as another caller
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

// Confidential rejects a session over plain HTTP.
func Confidential(a Actor) error {
	if a.Plain {
		return errs.New(errs.Forbidden, "this isn't possible over plain HTTP; open coffer at an https address or "+
			"on the server itself, or use the command line there")
	}
	return nil
}

// Proven rejects a session that was left open: handing out rights or data requires a recent
// sign-in. Callers without a session pass.
func Proven(a Actor) error {
	if a.Plain {
		return Confidential(a)
	}
	if a.Session != nil && !a.Proved {
		return errs.New(errs.ProofRequired,
			"sign in again to confirm it's you (/login?again=1), then repeat the call; a sign-in is valid "+
				"for five minutes")
	}
	return nil
}

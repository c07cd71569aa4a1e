package auth

import (
	"context"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// An Assistant is a program that a member allowed, as the member may see it.
type Assistant struct {
	ID          id.ID               `json:"id" db:"id"`
	ShortID     string              `json:"short_id,omitempty" db:"short_id" required:"true"`
	UserID      id.ID               `json:"user_id" db:"member_id"`
	Name        string              `json:"name" db:"title" doc:"The name the program gives itself"`
	ClientID    string              `json:"client_id" db:"name" doc:"The program's client_id; an https URL means that its host identifies it"`
	RedirectURI string              `json:"redirect_uri" db:"redirect_uri" doc:"Redirect URI of the consent"`
	Scope       string              `json:"scope" db:"scope" enum:"read_only,full_access" doc:"Granted scope; a viewer's assistant is always read-only"`
	Resource    string              `json:"resource" db:"resource" doc:"URL it can call"`
	CreatedAt   pg.Time             `json:"created_at" db:"created_at"`
	LastUsedAt  *pg.Time            `json:"last_used_at" db:"last_used_at" doc:"Accurate to the minute"`
	ExpiresAt   pg.Time             `json:"expires_at" db:"expires_at" doc:"Moves forward each time the assistant is used"`
	Record      *trackrecord.Record `json:"record,omitempty" db:"-" doc:"Track record of its decisions"`
}

const assistantColumns = `g.id, g.short_id, g.member_id, c.title, c.name, g.redirect_uri, g.scope, g.resource,
	g.created_at, used.at as last_used_at, used.until as expires_at`

// Assistants is a page of assistants, newest first.
type Assistants struct {
	Assistants []Assistant `json:"assistants"`
	NextCursor string      `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool        `json:"has_more"`
}

// Assistants returns the programs that a member allowed and that still have access.
func (a *Auth) Assistants(ctx context.Context, q pg.Querier, in ListLogins) (Assistants, error) {
	rows, next, err := ofMember(ctx, a, q, in, "assistants",
		func(member id.ID, before *string, limit int) ([]Assistant, error) {
			return pg.All[Assistant](ctx, q, `
			select `+assistantColumns+` from consent g join client c on c.id = g.client_id cross join lateral (
				select greatest(max(t.last_used_at), g.refreshed_at) as at,
					max(t.expires_at) filter (where t.revoked_at is null) as until from token t
					where t.consent_id = g.id
			) used
			where g.member_id = $1 and g.revoked_at is null and used.until > now()
				and ($2::uuid is null or g.id < $2::uuid) order by g.id desc limit $3`, member, before, limit)
		}, func(s Assistant) id.ID { return s.ID })
	if err != nil {
		return Assistants{}, err
	}
	ids := make([]id.ID, len(rows))
	for i, s := range rows {
		ids[i] = s.ID
	}
	records, err := trackrecord.OfAgents(ctx, q, ids)
	for i, s := range rows {
		rows[i].Record = new(records[s.ID])
	}
	return Assistants{rows, next, next != ""}, err
}

// AssistantRef identifies a member's assistant.
type AssistantRef struct {
	UserID      string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	AssistantID string `json:"assistant_id" minLength:"1" doc:"The assistant's UUID or short id"`
}

// RevokeAssistant ends all access that a program has from a member's consent.
func (a *Auth) RevokeAssistant(ctx context.Context, tx pg.Tx, in AssistantRef) (op.Deleted, error) {
	u, err := a.User(ctx, tx, UserRef{in.UserID})
	if err != nil {
		return op.Deleted{}, err
	}
	consent, err := assistantOf(ctx, tx, u.ID, in.AssistantID)
	if err != nil {
		return op.Deleted{}, pg.Found(err, "assistant", "{assistant.list} lists them")
	}
	if err := op.Owned(ctx, &consent, "assistants can only end their own access"); err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: consent}, endFamily(ctx, tx, consent)
}

// assistantOf returns the consent that the member gave to an assistant.
func assistantOf(ctx context.Context, tx pg.Tx, member id.ID, ref string) (id.ID, error) {
	return pg.Value[id.ID](ctx, tx, `select id from consent where member_id = $1 and (id = $2 or short_id = $3)`,
		append([]any{member}, pg.RefTo(ref).IDArgs()...)...)
}

// OwnAssistants returns the assistants of the signed-in member.
func (a *Auth) OwnAssistants(ctx context.Context, actor op.Actor) ([]Assistant, error) {
	page, err := a.Assistants(ctx, a.db, ListLogins{UserID: actor.Member.String(), Limit: 500})
	return page.Assistants, err
}

// EndOwnAssistant is RevokeAssistant for the signed-in member.
func (a *Auth) EndOwnAssistant(ctx context.Context, actor op.Actor, ref string) error {
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.RevokeAssistant(ctx, tx, AssistantRef{actor.Member.String(), ref})
		return err
	})
}

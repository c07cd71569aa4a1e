package savedview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostPreferences is the largest size of a member's preferences, in bytes of compact JSON.
const mostPreferences = 16_000

func (v *Views) preferenceOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "me.preferences", Route: "GET /users/me/preferences", Own: true, Record: true,
			Summary: "Shows your preferences, as saved by an app.",
		}, v.Preferences),
		op.Writing(op.Spec{
			Name: "me.set-preferences", Route: "PUT /users/me/preferences", Own: true, Scope: op.Read, Record: true,
			Summary: "Replaces your preferences: any JSON object of at most 16 kB.",
		}, v.SetPreferences),
	}
}

// Preferences are a member's settings of the app. Only the app knows their meaning.
type Preferences struct {
	Preferences json.RawMessage `json:"preferences" db:"value" doc:"A JSON object; empty if nothing was saved"`
	UpdatedAt   *pg.Time        `json:"updated_at" db:"updated_at"`
}

// Preferences returns the preferences of the signed-in member.
func (v *Views) Preferences(ctx context.Context, q pg.Querier, _ op.None) (Preferences, error) {
	type row struct {
		Value     string   `db:"value"`
		UpdatedAt *pg.Time `db:"updated_at"`
	}
	r, err := pg.One[row](ctx, q, `select value, updated_at from preference where member_id = $1`,
		op.ActorOf(ctx).Member)
	if errors.Is(err, pg.ErrNoRow) {
		return Preferences{Preferences: json.RawMessage("{}")}, nil
	}
	return Preferences{json.RawMessage(r.Value), r.UpdatedAt}, err
}

// SetPreferences is the input of SetPreferences.
type SetPreferences struct {
	Preferences json.RawMessage `json:"preferences" doc:"A JSON object of at most 16 kB; it replaces the saved one"`
}

// SetPreferences replaces the preferences of the signed-in member.
func (v *Views) SetPreferences(ctx context.Context, tx pg.Tx, in SetPreferences) (Preferences, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, in.Preferences); err != nil {
		return Preferences{}, fmt.Errorf("print preferences: %w", err)
	}
	switch {
	case b.Len() == 0 || b.Bytes()[0] != '{':
		return Preferences{}, errs.Field("preferences", "type", "must be an object")
	case b.Len() > mostPreferences:
		return Preferences{}, errs.New(errs.PayloadTooLarge, "preferences can have at most %d bytes of JSON",
			mostPreferences)
	}
	member := op.ActorOf(ctx).Member
	// Writers wait for each other here, so that If-Match sees the last change.
	if _, err := pg.Exec(ctx, tx, `select from member where id = $1 for no key update`, member); err != nil {
		return Preferences{}, err
	}
	was, err := v.Preferences(ctx, tx, op.None{})
	if err != nil {
		return Preferences{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return Preferences{}, err
	}
	if _, err := pg.Exec(ctx, tx, `insert into preference (member_id, value) values ($1, $2)
		on conflict (member_id) do update set value = excluded.value, updated_at = clock_timestamp()`, member,
		b.String()); err != nil {
		return Preferences{}, err
	}
	return v.Preferences(ctx, tx, op.None{})
}

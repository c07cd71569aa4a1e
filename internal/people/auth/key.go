package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"time"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Key is an API key as its owner may see it again: everything except the key itself.
type Key struct {
	ID              id.ID    `json:"id" db:"id"`
	ShortID         string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name            string   `json:"name" db:"name"`
	KeyPrefix       string   `json:"key_prefix" db:"prefix" doc:"Start of the key, to recognize it" example:"coffer_4f8Kq2Lz"`
	Scope           string   `json:"scope" db:"scope" enum:"read_only,full_access"`
	ActorType       string   `json:"actor_type" db:"actor_type" enum:"user,agent,system" doc:"Who acts with this key; values set by a user are locked (held), so rules and agents don't change them"`
	ActorName       *string  `json:"actor_name" db:"actor_name"`
	MaxWritesPerDay *int     `json:"max_writes_per_day" db:"max_writes_per_day" doc:"Daily write limit of this key, one write per changed transaction and record; null means no limit"`
	May             []string `json:"may" db:"may" enum:"administer" doc:"Extra rights that a person gave to an agent's key: administer allows everything that is otherwise reserved for people (x-people)"`
	Only            []string `json:"only" db:"only_may" enum:"add" doc:"Limits the key: with add it may only add transactions, and read the names of accounts and payees"`
	UserID          *id.ID   `json:"user_id" db:"member_id" doc:"Owner of the key: it ends with the member and is limited by the member's role; null means no owner"`
	CreatedAt       pg.Time  `json:"created_at" db:"created_at"`
	LastUsedAt      *pg.Time `json:"last_used_at" db:"last_used_at" doc:"Accurate to the minute"`
	ExpiresAt       *pg.Time `json:"expires_at" db:"expires_at"`
	RevokedAt       *pg.Time `json:"revoked_at" db:"revoked_at"`
	// Record and WritesLeft are read from the journal for the responses that show them.
	Record     *trackrecord.Record `json:"record,omitempty" db:"-" doc:"Track record of an agent's decisions; only in the list"`
	WritesLeft *int64              `json:"writes_left_today,omitempty" db:"-" doc:"Transactions it may still change today; only in GET /keys/me, absent without a limit"`
}

// A NewKey is a Key with the key itself. The key is shown only this once.
type NewKey struct {
	Key
	Secret string `json:"key" db:"-" doc:"The key itself, shown only once" example:"coffer_4f8Kq2Lz…"`
}

const keyColumns = `id, short_id, name, prefix, scope, actor_type, actor_name, max_writes_per_day, may, only_may,
	member_id, created_at, last_used_at, expires_at, revoked_at`

// CreateKey is the input of Create.
type CreateKey struct {
	Name            string   `json:"name" minLength:"1" maxLength:"200" format:"line" doc:"What the key is for" example:"budget script"`
	Scope           string   `json:"scope" enum:"read_only,full_access" doc:"read_only can read; full_access can also change things and see other keys"`
	ActorType       string   `json:"actor_type,omitempty" enum:"user,agent,system" default:"user" doc:"Who acts with this key"`
	ActorName       *string  `json:"actor_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The name recorded with its changes; defaults to the key's name"`
	ExpiresAt       *pg.Time `json:"expires_at,omitempty" doc:"When it expires; never if omitted"`
	MaxWritesPerDay *int     `json:"max_writes_per_day,omitempty" minimum:"0" maximum:"1000000" doc:"Daily write limit, one write per changed transaction and record; 2,000 by default for an agent's key"`
	May             []string `json:"may,omitempty" enum:"administer" maxItems:"1" doc:"administer lets an agent's key do what is otherwise reserved for people: members, keys, settings, exports and everything that cannot be undone. It requires full_access, and only a person who has just signed in can grant it, or the command line on the server"`
	Only            []string `json:"only,omitempty" enum:"add" maxItems:"1" doc:"add limits the key to POST /transactions and the names of accounts and payees, for a phone's shortcuts. It requires full_access"`
}

// Administer lets an agent's key use operations that are otherwise reserved for people.
const Administer = "administer"

// checkMay rejects rights that a key cannot have. An agent with admin rights cannot pass them on,
// because only people decide who has them.
func checkMay(ctx context.Context, in CreateKey) error {
	switch {
	case len(in.May) == 0:
		return nil
	case op.ActorOf(ctx).Type == op.Agent:
		return errs.New(errs.Forbidden,
			"agents can't create a key that can administer; ask a member of the household")
	case op.ActorOf(ctx).Key != nil:
		// Anyone can hold a key, and a key does not prove a person's identity.
		return errs.New(errs.Forbidden,
			"an API key can't create a key that can administer: sign in to the web app and create it there, "+
				"or run coffer key create on the server")
	case in.Scope != op.Full.String():
		return errs.Field("may", "conflict", "requires scope full_access")
	}
	return nil
}

// checkOnly rejects limits that contradict the key's other rights.
func checkOnly(in CreateKey) error {
	switch {
	case len(in.Only) == 0:
		return nil
	case in.Scope != op.Full.String():
		return errs.Field("only", "conflict", "requires scope full_access")
	case len(in.May) > 0:
		return errs.Field("only", "conflict", "can't be combined with may")
	}
	return nil
}

const agentWritesPerDay = 2000

// Create creates a key and returns it once. The key belongs to the member who creates it: it ends
// when the member is removed, and the member's role limits it.
func (a *Auth) Create(ctx context.Context, tx pg.Tx, in CreateKey) (NewKey, error) {
	if err := cmp.Or(checkMay(ctx, in), checkOnly(in)); err != nil {
		return NewKey{}, err
	}
	return a.create(ctx, tx, in, op.ActorOf(ctx).Member)
}

func (a *Auth) create(ctx context.Context, tx pg.Tx, in CreateKey, member *id.ID) (NewKey, error) {
	if in.ExpiresAt != nil && !in.ExpiresAt.Time().After(time.Now()) {
		return NewKey{}, errs.Field("expires_at", "range", "must be in the future")
	}
	if in.MaxWritesPerDay == nil && in.ActorType == op.Agent {
		in.MaxWritesPerDay = new(agentWritesPerDay)
	}
	random := id.Base62(keyRandom)
	out := NewKey{Secret: keyPrefix + random}
	hash := sha256.Sum256([]byte(out.Secret))
	err := pg.Redraw(ctx, tx, "token_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		out.Key, err = pg.One[Key](ctx, tx, `
			insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, actor_name,
				max_writes_per_day, may, only_may, expires_at, member_id)
			values (@id, @short, 'api_key', @hash, @prefix, @name, @scope, @type, @actor, @writes,
				coalesce(@may, '{}'::text[]), coalesce(@only, '{}'::text[]), @expires, @member)
			returning `+keyColumns, pg.Args{
			"id": newID, "short": newID.Short(), "hash": hash[:], "prefix": keyPrefix + random[:shownRandom],
			"name": in.Name, "scope": in.Scope,
			"type": in.ActorType, "actor": in.ActorName, "writes": in.MaxWritesPerDay, "may": in.May,
			"only":    in.Only,
			"expires": in.ExpiresAt, "member": member,
		})
		return err
	})
	return out, err
}

// Me returns the caller's own key.
func (a *Auth) Me(ctx context.Context, q pg.Querier, _ op.None) (Key, error) {
	actor := op.ActorOf(ctx)
	if actor.Key == nil {
		return Key{}, errs.New(errs.NotFound, "this call has no API key; send one in the header X-API-Key")
	}
	k, err := a.find(ctx, q, actor.Key.String())
	if err != nil || actor.Scope != op.Full {
		return k, err
	}
	budget, err := trackrecord.BudgetOf(ctx, q, actor.ID, actor.Type == op.Agent)
	if budget != nil {
		k.WritesLeft = &budget.Left
	}
	return k, err
}

// KeyRef identifies a key.
type KeyRef struct {
	ID string `json:"id" doc:"The key's UUID or short id (not the key itself)" minLength:"1"`
}

// Get returns one key.
func (a *Auth) Get(ctx context.Context, q pg.Querier, in KeyRef) (Key, error) {
	return a.find(ctx, q, in.ID)
}

func (a *Auth) find(ctx context.Context, q pg.Querier, ref string) (Key, error) {
	k, err := pg.One[Key](ctx, q, `select `+keyColumns+` from token where kind = 'api_key'
		and (id = $1 or short_id = $2)`, pg.RefTo(ref).IDArgs()...)
	return k, noKey(err)
}

func (a *Auth) lock(ctx context.Context, tx pg.Tx, ref string) (Key, error) {
	k, err := pg.One[Key](ctx, tx, `select `+keyColumns+` from token where kind = 'api_key'
		and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	return k, noKey(err)
}

func noKey(err error) error { return pg.Found(err, "API key", "{key.list} lists them") }

// ListKeys is the request for a page of keys.
type ListKeys struct {
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// Keys is a page of keys, newest first, revoked ones included.
type Keys struct {
	Keys       []Key  `json:"api_keys"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
}

// List returns a page of keys.
func (a *Auth) List(ctx context.Context, q pg.Querier, in ListKeys) (Keys, error) {
	pager, err := a.db.Pager(ctx, "api-keys", nil)
	if err != nil {
		return Keys{}, err
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]Key, error) {
		return pg.All[Key](ctx, q, `select `+keyColumns+` from token where kind = 'api_key'
			and ($1::uuid is null or id < $1) order by id desc limit $2`, before, limit)
	}, func(k Key) id.ID { return k.ID })
	if err != nil {
		return Keys{}, err
	}
	var agents []id.ID
	for _, k := range rows {
		if k.ActorType == op.Agent {
			agents = append(agents, k.ID)
		}
	}
	records, err := trackrecord.OfAgents(ctx, q, agents)
	for i, k := range rows {
		if k.ActorType == op.Agent {
			rows[i].Record = new(records[k.ID])
		}
	}
	return Keys{rows, next, next != ""}, err
}

// PatchKey is the input of Patch. The scope cannot be changed, because a key that was handed out
// keeps its rights.
type PatchKey struct {
	ID              string           `json:"id" doc:"The key's UUID or short id" minLength:"1"`
	Name            *string          `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	ActorName       op.Null[string]  `json:"actor_name,omitzero" minLength:"1" maxLength:"200" format:"line"`
	ExpiresAt       op.Null[pg.Time] `json:"expires_at,omitzero" doc:"null means never"`
	MaxWritesPerDay op.Null[int]     `json:"max_writes_per_day,omitzero" minimum:"0" maximum:"1000000" doc:"null means no limit"`
}

// Patch changes a key.
func (a *Auth) Patch(ctx context.Context, tx pg.Tx, in PatchKey) (Key, error) {
	k, err := a.lock(ctx, tx, in.ID)
	if err != nil {
		return Key{}, err
	}
	if err := op.Match(ctx, k); err != nil {
		return Key{}, err
	}
	if k.RevokedAt != nil {
		return Key{}, errs.New(errs.Conflict, "this key was revoked and can't be changed; create a new one")
	}
	return pg.One[Key](ctx, tx, `
		update token set
			name = coalesce(@name, name),
			actor_name = case when @actor_given then @actor else actor_name end,
			expires_at = case when @expires_given then @expires else expires_at end,
			max_writes_per_day = case when @writes_given then @writes else max_writes_per_day end,
			updated_at = clock_timestamp()
		where id = @id returning `+keyColumns, pg.Args{
		"id": k.ID, "name": in.Name, "actor_given": in.ActorName.Set, "actor": in.ActorName.Value,
		"expires_given": in.ExpiresAt.Set, "expires": in.ExpiresAt.Value, "writes_given": in.MaxWritesPerDay.Set,
		"writes": in.MaxWritesPerDay.Value,
	})
}

// Revoke revokes a key; it stays listed. Revoking it again changes nothing.
func (a *Auth) Revoke(ctx context.Context, tx pg.Tx, in KeyRef) (op.Deleted, error) {
	k, err := a.lock(ctx, tx, in.ID)
	if err == nil {
		err = op.Owned(ctx, &k.ID, "agents can only revoke their own key")
	}
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `update token set revoked_at = coalesce(revoked_at, clock_timestamp()),
		updated_at = clock_timestamp() where id = $1`, k.ID)
	return op.Deleted{Deleted: true, ID: k.ID}, err
}

// GiveBack revokes the presented key, or everything from the consent of the presented token. It
// ignores anything else.
func (a *Auth) GiveBack(ctx context.Context, presented string) error {
	if !wellFormed(presented) {
		return a.giveBackGrant(ctx, presented)
	}
	hash := sha256.Sum256([]byte(presented))
	_, err := pg.Exec(ctx, a.db, `update token set revoked_at = coalesce(revoked_at, clock_timestamp()),
		updated_at = clock_timestamp() where hash = $1 and kind = 'api_key'`, hash[:])
	return err
}

// Any reports whether the household has a login or has ever had an API key. If not, it still has to
// be set up.
func (a *Auth) Any(ctx context.Context) (bool, error) {
	return pg.Value[bool](ctx, a.db, `select exists (select from token where kind = 'api_key')
		or exists (select from login)`)
}

package auth

import (
	"context"
	"crypto/sha256"
	"errors"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A CalendarLink lets a calendar app read the upcoming payments, and nothing else.
type CalendarLink struct {
	ID         id.ID    `json:"id" db:"id"`
	ShortID    string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	Amounts    bool     `json:"amounts" db:"amounts" doc:"Whether the calendar shows amounts, beside payees"`
	UserID     *id.ID   `json:"user_id" db:"member_id" doc:"Who created it: it ends with the member; null means no owner"`
	CreatedAt  pg.Time  `json:"created_at" db:"created_at"`
	LastUsedAt *pg.Time `json:"last_used_at" db:"last_used_at" doc:"Accurate to the minute"`
}

// A NewCalendarLink is a CalendarLink with its address. The address is shown only this once.
type NewCalendarLink struct {
	CalendarLink
	URL string `json:"url" db:"-" doc:"The address to subscribe to, shown only once: anyone who has it can read the calendar" example:"https://coffer.example/calendar/4f8Kq2Lz….ics"`
}

const calendarColumns = `id, short_id, amounts, member_id, created_at, last_used_at`

// CreateCalendarLink is the input of NewCalendar.
type CreateCalendarLink struct {
	Amounts bool `json:"amounts,omitempty" doc:"Show amounts in the calendar; calendars are often shared and synced to other services"`
}

// CalendarPath is where calendars are served, before the token.
const CalendarPath = "/calendar/"

// NewCalendar creates a link and returns its address, which is shown only this once.
func (a *Auth) NewCalendar(ctx context.Context, tx pg.Tx, in CreateCalendarLink) (NewCalendarLink, error) {
	secret := id.Base62(keyRandom)
	hash := sha256.Sum256([]byte(secret))
	out := NewCalendarLink{URL: a.Base + CalendarPath + secret + ".ics"}
	err := pg.Redraw(ctx, tx, "token_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		out.CalendarLink, err = pg.One[CalendarLink](ctx, tx, `
			insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, member_id, amounts)
			values ($1, $2, 'calendar', $3, '', 'calendar', 'read_only', 'user', $4, $5)
			returning `+calendarColumns, newID, newID.Short(), hash[:], op.ActorOf(ctx).Member, in.Amounts)
		return err
	})
	return out, err
}

// CalendarLinks is a page of links, newest first.
type CalendarLinks struct {
	Links      []CalendarLink `json:"calendar_links"`
	NextCursor string         `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool           `json:"has_more"`
}

// whose returns the member whose links the caller may see and revoke; nil means all members.
func whose(a op.Actor) *id.ID {
	if a.Member == nil || a.Role == op.RoleAdmin {
		return nil
	}
	return a.Member
}

// Calendars returns a page of links: the caller's own, or those of all members for an admin.
func (a *Auth) Calendars(ctx context.Context, q pg.Querier, in ListKeys) (CalendarLinks, error) {
	pager, err := a.db.Pager(ctx, "calendar-links", nil)
	if err != nil {
		return CalendarLinks{}, err
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]CalendarLink, error) {
		return pg.All[CalendarLink](ctx, q, `select `+calendarColumns+` from token
			where kind = 'calendar' and revoked_at is null and ($3::uuid is null or member_id = $3)
				and ($1::uuid is null or id < $1) order by id desc limit $2`, before, limit, whose(op.ActorOf(ctx)))
	}, func(l CalendarLink) id.ID { return l.ID })
	return CalendarLinks{rows, next, next != ""}, err
}

// CalendarRef identifies a link.
type CalendarRef struct {
	ID string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
}

// EndCalendar revokes a link.
func (a *Auth) EndCalendar(ctx context.Context, tx pg.Tx, in CalendarRef) (op.Deleted, error) {
	ended, err := pg.Value[id.ID](ctx, tx, `
		update token set revoked_at = clock_timestamp(), updated_at = clock_timestamp()
		where kind = 'calendar' and revoked_at is null and ($3::uuid is null or member_id = $3)
			and (id = $1 or short_id = $2) returning id`,
		append(pg.RefTo(in.ID).IDArgs(), whose(op.ActorOf(ctx)))...)
	return op.Deleted{Deleted: true, ID: ended}, pg.Found(err, "calendar link", "{calendar-link.list} lists them")
}

// Calendar returns the link with this token. As with keys, a guess costs one query.
func (a *Auth) Calendar(ctx context.Context, presented string) (CalendarLink, error) {
	unknown := errs.New(errs.NotFound, "this calendar link is incomplete or was revoked; create a new one in coffer")
	if len(presented) != keyRandom || !id.IsBase62(presented) {
		return CalendarLink{}, unknown
	}
	hash := sha256.Sum256([]byte(presented))
	l, err := pg.One[CalendarLink](ctx, a.db.Reserved(), `
		select t.id, t.short_id, t.amounts, t.member_id, t.created_at, t.last_used_at
		from token t left join member m on m.id = t.member_id
		where t.hash = $1 and t.kind = 'calendar' and t.revoked_at is null and m.deleted_at is null`, hash[:])
	if errors.Is(err, pg.ErrNoRow) {
		return l, unknown
	}
	if err == nil {
		a.touch(l.ID)
	}
	return l, err
}

func (a *Auth) calendarOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "calendar-link.list", Route: "GET /calendar-links",
			Summary: "Lists the links by which calendar apps read upcoming payments: your own, or everybody's if " +
				"you are an admin.",
		}, a.Calendars),
		op.Writing(op.Spec{
			Name: "calendar-link.create", Route: "POST /calendar-links", People: op.PeopleAlways,
			Summary: "Creates a link by which a calendar app reads upcoming payments, and shows it once.",
		}, a.NewCalendar),
		op.Writing(op.Spec{
			Name: "calendar-link.revoke", Route: "DELETE /calendar-links/{id}", People: op.PeopleAlways,
			Summary: "Revokes a calendar link, effective from the next request.",
		}, a.EndCalendar),
	}
}

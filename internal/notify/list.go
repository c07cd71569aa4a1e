package notify

import (
	"context"
	"encoding/json"
	"slices"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Notification is an event that was reported.
type Notification struct {
	ID         id.ID           `json:"id" db:"id"`
	ShortID    string          `json:"short_id,omitempty" db:"short_id" required:"true" doc:"With msg_ before it, the webhook-id of the messages"`
	Type       string          `json:"type" db:"type"`
	Message    string          `json:"message" db:"-" doc:"The notification in one sentence"`
	Data       json.RawMessage `json:"data" db:"-" doc:"As it is sent to endpoints with lean content"`
	State      string          `json:"state" db:"-" enum:"delivered,pending,failed,none" doc:"Over all deliveries: failed if one failed, else pending if one is, else delivered; none if no endpoint takes the type"`
	Deliveries []Delivery      `json:"deliveries" db:"-" doc:"One per endpoint that takes the type"`
	CreatedAt  pg.Time         `json:"created_at" db:"created_at"`
}

// A Delivery is a notification for one endpoint, with its state.
type Delivery struct {
	EndpointID    id.ID    `json:"endpoint_id" db:"endpoint_id"`
	Endpoint      string   `json:"endpoint" db:"-" doc:"Name of the endpoint, else its host"`
	State         string   `json:"state" db:"state" enum:"pending,delivered,failed"`
	Attempts      int      `json:"attempts" db:"attempts"`
	NextAt        *pg.Time `json:"next_attempt_at" db:"next_at" doc:"null unless the state is pending"`
	LastAttemptAt *pg.Time `json:"last_attempt_at" db:"last_attempt_at"`
	LastStatus    *int     `json:"last_status" db:"last_status" doc:"HTTP status of the last response; null if there was none"`
	LastError     *string  `json:"last_error" db:"last_error" doc:"Last error; null if there was none"`
	DeliveredAt   *pg.Time `json:"delivered_at" db:"delivered_at"`
}

// ListNotifications asks for a page of notifications.
type ListNotifications struct {
	Type   *Listed    `json:"type,omitempty" doc:"Filter by type"`
	Since  *pg.Moment `json:"since,omitempty" doc:"Start time or date (inclusive)"`
	Cursor string     `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int        `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Page size"`
}

// Notifications is a page of notifications, newest first.
type Notifications struct {
	Notifications []Notification `json:"notifications"`
	NextCursor    string         `json:"next_cursor" doc:"Empty on the last page"`
	HasMore       bool           `json:"has_more"`
}

const stored = `id, short_id, type, data::text as data, created_at`

// A record is a stored notification.
type record struct {
	Notification
	Text string `db:"data"`
}

// List returns a page of notifications.
func (n *Notifier) List(ctx context.Context, q pg.Querier, in ListNotifications) (Notifications, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := n.db.Pager(ctx, "notifications", filters)
	if err != nil {
		return Notifications{}, err
	}
	var since *string
	if in.Since != nil {
		since = new(in.Since.String())
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]record, error) {
		return pg.All[record](ctx, q, `select `+stored+` from notification
			where ($1::text is null or type = $1) and ($3::uuid is null or id < $3)
				and ($2::text is null or created_at >= (
					select case when length($2) = 10 then $2::date::timestamp at time zone time_zone
						else $2::timestamptz end from setting))
			order by id desc limit $4`, in.Type, since, before, limit)
	}, func(r record) id.ID { return r.ID })
	if err != nil {
		return Notifications{}, err
	}
	out := Notifications{make([]Notification, len(rows)), next, next != ""}
	for i, r := range rows {
		out.Notifications[i] = r.Notification
		out.Notifications[i].tell(r.Text)
	}
	return out, deliveries(ctx, q, out.Notifications)
}

// tell fills in the data and the message.
func (n *Notification) tell(data string) {
	n.Data, n.Message = json.RawMessage(data), words(Type(n.Type), []byte(data))
}

// deliveries fills in the deliveries of the notifications.
func deliveries(ctx context.Context, q pg.Querier, list []Notification) error {
	at := map[id.ID]int{}
	ids := make([]id.ID, len(list))
	for i := range list {
		ids[i], at[list[i].ID], list[i].Deliveries = list[i].ID, i, []Delivery{}
	}
	type row struct {
		Delivery
		Of     id.ID   `db:"notification_id"`
		Called *string `db:"description"`
		URL    string  `db:"url"`
	}
	rows, err := pg.All[row](ctx, q, `
		select d.notification_id, d.endpoint_id, d.state, d.attempts, d.next_at, d.last_attempt_at, d.last_status,
			d.last_error, d.delivered_at, e.description, e.url
		from delivery d join endpoint e on e.id = d.endpoint_id
		where d.notification_id = any($1) order by d.endpoint_id`, ids)
	for _, r := range rows {
		if r.Endpoint = host(r.URL); r.Called != nil {
			r.Endpoint = *r.Called
		}
		list[at[r.Of]].Deliveries = append(list[at[r.Of]].Deliveries, r.Delivery)
	}
	for i := range list {
		list[i].State = together(list[i].Deliveries)
	}
	return err
}

// together returns the most important state of all deliveries: failed, then pending, then
// delivered.
func together(all []Delivery) string {
	for _, state := range []string{"failed", "pending", "delivered"} {
		if slices.ContainsFunc(all, func(d Delivery) bool { return d.State == state }) {
			return state
		}
	}
	return "none"
}

// Resend is the input of Resend.
type Resend struct {
	ID         string  `json:"id" minLength:"1" doc:"The notification's UUID or short id"`
	EndpointID *string `json:"endpoint_id,omitempty" minLength:"1" doc:"Only to this endpoint, by UUID or short id; to all that are enabled and take its type if omitted"`
}

// Resend makes a notification due again, for one endpoint or for every endpoint that takes its
// type.
func (n *Notifier) Resend(ctx context.Context, tx pg.Tx, in Resend) (Notification, error) {
	r, err := pg.One[record](ctx, tx, `select `+stored+` from notification
		where id = $1 or short_id = $2 for update`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return Notification{}, pg.Found(err, "notification",
			"{notification.list} lists them; they are kept for 90 days")
	}
	out := []Notification{r.Notification}
	out[0].tell(r.Text)
	var one *id.ID
	if in.EndpointID != nil {
		e, err := pg.One[Endpoint](ctx, tx, `select `+columns+` from endpoint where id = $1 or short_id = $2`,
			pg.RefTo(*in.EndpointID).IDArgs()...)
		if err != nil {
			return Notification{}, pg.Named(err, "endpoint_id", "endpoint", "{endpoint.list} lists them")
		}
		if !e.Enabled {
			return Notification{}, errs.New(errs.Conflict, "the endpoint is disabled; enable it first")
		}
		one = &e.ID
	}
	sent, err := pg.Exec(ctx, tx, `
		insert into delivery as d (id, notification_id, endpoint_id, next_at)
		select gen_random_uuid(), @id, e.id, clock_timestamp() from endpoint e
		where e.enabled and case when @one::uuid is null then e.events = '{}' or @type::text = any(e.events)
			or exists (select from delivery x where x.notification_id = @id and x.endpoint_id = e.id)
			else e.id = @one end
		for key share of e
		on conflict on constraint delivery_once do update set state = 'pending', attempts = 0,
			next_at = clock_timestamp(), claim = null, delivered_at = null`,
		pg.Args{"id": out[0].ID, "type": out[0].Type, "one": one})
	if err != nil {
		return Notification{}, err
	}
	if sent == 0 {
		return Notification{}, errs.New(errs.Conflict, "no enabled endpoint takes this type; add or enable one first")
	}
	return out[0], deliveries(ctx, tx, out)
}

package connection

import (
	"context"
	"fmt"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// A SyncLog is one run of a sync.
type SyncLog struct {
	ID           id.ID    `json:"id" db:"id"`
	ShortID      string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	ConnectionID id.ID    `json:"connection_id" db:"connection_id"`
	Trigger      string   `json:"trigger" db:"trigger" enum:"schedule,webhook,manual,initial,replay,import"`
	Status       string   `json:"status" db:"status" enum:"running,success,error,cancelled"`
	Added        int64    `json:"added" db:"added"`
	Modified     int64    `json:"modified" db:"modified"`
	Removed      int64    `json:"removed" db:"removed"`
	Unchanged    int64    `json:"unchanged" db:"unchanged"`
	RulesApplied int64    `json:"rules_applied" db:"rules_applied" doc:"Number of rule matches"`
	Quarantined  int64    `json:"quarantined" db:"quarantined" doc:"Unreadable rows"`
	Pages        int64    `json:"pages" db:"pages"`
	ErrorCode    *string  `json:"error_code" db:"error_code"`
	ErrorMessage *string  `json:"error_message" db:"error_message"`
	JobID        id.ID    `json:"job_id" db:"job_id"`
	ChangeID     *id.ID   `json:"change_id" db:"change_id" doc:"Id of the change; pass it to revert"`
	AccountID    *id.ID   `json:"account_id" db:"account_id" doc:"Imports only: the account of the file"`
	FileName     *string  `json:"file_name" db:"file_name" doc:"Imports only: the file's name, if given"`
	StartedAt    pg.Time  `json:"started_at" db:"started_at"`
	FinishedAt   *pg.Time `json:"finished_at" db:"finished_at"`
}

const logRows = `
	select id, short_id, connection_id, trigger, status, added, modified, removed, unchanged, rules_applied,
		quarantined, pages, error_code, error_message, job_id, change_id, account_id, file_name,
		started_at, finished_at
	from sync_log`

// ListSyncLogs asks for a page of syncs.
type ListSyncLogs struct {
	ConnectionID *string `json:"connection_id,omitempty" minLength:"1" doc:"Filter by connection: UUID or short id"`
	Trigger      *string `json:"trigger,omitempty" enum:"schedule,webhook,manual,initial,replay,import" doc:"Filter by trigger; import for files"`
	Status       *string `json:"status,omitempty" enum:"running,success,error,cancelled"`
	Cursor       string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit        int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// SyncLogs is a page of syncs, newest first.
type SyncLogs struct {
	SyncLogs   []SyncLog `json:"sync_logs"`
	NextCursor string    `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool      `json:"has_more"`
}

// SyncLogs returns a page of syncs.
func (f *Connections) SyncLogs(ctx context.Context, q pg.Querier, in ListSyncLogs) (SyncLogs, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := f.db.Pager(ctx, "sync logs", filters)
	if err != nil {
		return SyncLogs{}, err
	}
	var where pg.Where
	if in.ConnectionID != nil {
		c, err := f.Connection(ctx, q, ConnectionRef{*in.ConnectionID})
		if err != nil {
			return SyncLogs{}, err
		}
		where.And("connection_id = $?", c.ID)
	}
	where.If(in.Trigger != nil, "trigger = $?", in.Trigger)
	where.If(in.Status != nil, "status = $?", in.Status)
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]SyncLog, error) {
		where.If(before != nil, "id < $?::uuid", before)
		return pg.All[SyncLog](ctx, q, fmt.Sprintf(`%s %s order by id desc limit %d`, logRows, where.SQL(), limit),
			where.Args()...)
	}, func(l SyncLog) id.ID { return l.ID })
	return SyncLogs{rows, next, next != ""}, err
}

// A SyncLogRef names a sync.
type SyncLogRef struct {
	ID string `json:"id" minLength:"1" doc:"The sync log's UUID or short id"`
}

// SyncLog returns one sync.
func (f *Connections) SyncLog(ctx context.Context, q pg.Querier, in SyncLogRef) (SyncLog, error) {
	l, err := pg.One[SyncLog](ctx, q, logRows+` where id = $1 or short_id = $2`, pg.RefTo(in.ID).IDArgs()...)
	return l, pg.Found(err, "sync", "{sync.list} lists them")
}

func startLog(ctx context.Context, tx pg.Tx, o syncRequest, run id.ID) (id.ID, error) {
	var made id.ID
	err := pg.Redraw(ctx, tx, "sync_log_short_id", func(tx pg.Tx) error {
		made = id.New()
		_, err := pg.Exec(ctx, tx, `insert into sync_log (id, short_id, connection_id, trigger, job_id)
			values (@id, @short, @connection, @trigger, @job)`,
			pg.Args{"id": made, "short": made.Short(), "connection": o.Connection, "trigger": o.Trigger, "job": run})
		return err
	})
	return made, err
}

// writeLog writes the progress of the sync, and with the last page that the sync has succeeded.
func (f *Connections) writeLog(ctx context.Context, tx pg.Tx, at *syncState, last bool) error {
	_, err := pg.Exec(ctx, tx, `
		update sync_log set
			added = @added, modified = @modified, removed = @removed, unchanged = @unchanged, rules_applied = @rules,
				quarantined = @quarantined, pages = @pages, change_id = @change,
			status = case when @last then 'success' else status end, finished_at = case
				when @last then clock_timestamp() end
		where id = @id`, pg.Args{
		"id": at.Log, "added": at.Added, "modified": at.Modified, "removed": at.Removed, "unchanged": at.Unchanged,
		"rules": at.RulesHit, "quarantined": at.Quarantined, "pages": at.Pages,
		"change": at.Change, "last": last,
	})
	return err
}

func endLog(ctx context.Context, tx pg.Tx, log id.ID, status string, code, message *string) error {
	_, err := pg.Exec(ctx, tx, `update sync_log set status = $2, error_code = $3, error_message = $4,
		finished_at = clock_timestamp() where id = $1`, log, status, code, message)
	return err
}

// openLogs selects logs l that are still open although their jobs j have ended: the job was
// canceled, failed for a reason that is not the bank's, or no longer exists.
const openLogs = `l.status = 'running' and (j.id is null or j.state in ('failed', 'cancelled'))`

// EndLogs closes the logs that ended jobs have left open. Ended does so for jobs that end now;
// EndLogs is for logs from an earlier version or from an archive. Every replica may run it.
func (f *Connections) EndLogs(ctx context.Context) error {
	_, err := pg.Exec(ctx, f.db, `
		update sync_log set status = case when j.state = 'failed' then 'error' else 'cancelled' end,
			error_code = j.error_code, error_message = j.error_message,
			finished_at = coalesce(j.finished_at, clock_timestamp())
		from sync_log l left join job j on j.id = l.job_id where l.id = sync_log.id and `+openLogs)
	return err
}

// ForgetLogs deletes a batch of the sync logs that are older than the household's retention. The
// last log of each connection is kept.
func (f *Connections) ForgetLogs(ctx context.Context) error {
	_, err := pg.Exec(ctx, f.db, `
		delete from sync_log where id in (
			select l.id from sync_log l, setting s
			where l.started_at < now() - make_interval(days => s.retention_days) and l.status <> 'running'
				and exists (select from sync_log n where n.connection_id = l.connection_id and n.id > l.id)
			order by l.id limit 5000 for update of l skip locked)`)
	return err
}

// quarantine keeps unreadable rows. A row that comes again is still kept only once. The content of
// the row is sealed if there is a key; otherwise only the reason is kept.
func (f *Connections) quarantine(ctx context.Context, tx pg.Tx, connection id.ID, accounts map[string]id.ID,
	bad []bank.Bad,
) error {
	if len(bad) == 0 {
		return nil
	}
	n := len(bad)
	ids, shorts, owners, rows, reasons, raws := make([]id.ID, n), make([]string, n), make([]*id.ID, n), make([]string,
		n), make([]string, n), make([][]byte, n)
	return pg.Redraw(ctx, tx, "quarantine_short_id", func(tx pg.Tx) error {
		for i, b := range bad {
			ids[i] = id.New()
			shorts[i], rows[i], reasons[i] = ids[i].Short(), b.ProviderID, string(b.Reason)
			if u, ok := accounts[b.AccountID]; ok {
				owners[i] = &u
			}
			if f.ring != nil && len(b.Raw) > 0 {
				sealed, err := f.ring.Seal(seal.Place{Table: "quarantine", Column: "raw", Row: ids[i].String()}, b.Raw)
				if err != nil {
					return err
				}
				raws[i] = sealed
			}
		}
		_, err := pg.Exec(ctx, tx, `
			insert into quarantine (id, short_id, connection_id, account_id, provider_id, reason, raw)
			select v.id, v.short_id, @connection, v.account_id, v.provider_id, v.reason, v.raw
			from unnest(@ids::uuid[], @shorts::text[], @owners::uuid[], @rows::text[], @reasons::text[],
				@raws::bytea[]) v (id, short_id, account_id, provider_id, reason, raw)
			on conflict (connection_id, provider_id, reason) where provider_id <> '' do update
				set last_seen_at = clock_timestamp()`, pg.Args{
			"connection": connection, "ids": ids, "shorts": shorts, "owners": owners, "rows": rows, "reasons": reasons,
			"raws": raws,
		})
		return err
	})
}

package settings

import (
	"context"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Backup summarizes the backups that coffer has made of the household.
type Backup struct {
	LastAt     *pg.Time `json:"last_at,omitempty" db:"last_at" doc:"When the data of the newest backup was read; absent if coffer has made none"`
	LastBytes  *int64   `json:"last_bytes,omitempty" db:"last_bytes"`
	VerifiedAt *pg.Time `json:"verified_at,omitempty" db:"verified_at" doc:"When a backup was last read back completely"`
	Due        bool     `json:"due" db:"due" doc:"Whether the newest backup is older than twice COFFER_BACKUP_EVERY, or a server that should make backups has made none for two days"`
}

// BackupOf summarizes the household's backups. A household that coffer has never backed up may use
// another backup program. So no backup is due for it, unless the servers are scheduled to make
// backups.
func BackupOf(ctx context.Context, q pg.Querier, scheduled bool) (Backup, error) {
	return pg.One[Backup](ctx, q, `
		select b.as_of as last_at, b.bytes as last_bytes,
			(select max(v.verified_at) from backup v) as verified_at,
			coalesce(b.overdue_at < now(), $1 and i.created_at < now() - interval '2 days') as due
		from instance i left join (select as_of, bytes, overdue_at from backup order by made_at desc, id desc limit 1) b
			on true`, scheduled)
}

// BackupFor returns BackupOf for admins, and nil for other members.
func BackupFor(ctx context.Context, q pg.Querier, scheduled bool) (*Backup, error) {
	if a := op.ActorOf(ctx); a.Role != "" && a.Role != op.RoleAdmin {
		return nil, nil
	}
	b, err := BackupOf(ctx, q, scheduled)
	return &b, err
}

// A BackupMade is a backup that was just made.
type BackupMade struct {
	AsOf      pg.Time
	Bytes     int64
	Scheduled bool
	Verified  bool
	Every     time.Duration // time between scheduled backups
}

// keptBackups is how long the records of backups are kept.
const keptBackups = "400 days"

// RecordBackup records a backup. It does nothing if the schema of the database is too old to have
// the table.
func RecordBackup(ctx context.Context, q pg.Querier, m BackupMade) error {
	ready, err := pg.Value[bool](ctx, q, `select to_regclass('public.backup') is not null`)
	if err != nil || !ready {
		return err
	}
	_, err = pg.Exec(ctx, q, `
		with old as (delete from backup where made_at < now() - $1::interval)
		insert into backup (as_of, bytes, scheduled, verified_at, overdue_at)
		values ($2, $3, $4, case when $5 then clock_timestamp() end, clock_timestamp() + make_interval(secs => $6))`,
		keptBackups, m.AsOf, m.Bytes, m.Scheduled, m.Verified, 2*m.Every.Seconds())
	return err
}

// VerifiedBackup records that the backup of that time was restored as a test.
func VerifiedBackup(ctx context.Context, q pg.Querier, asOf pg.Time) error {
	_, err := pg.Exec(ctx, q, `update backup set verified_at = clock_timestamp() where as_of = $1`, asOf)
	return err
}

// NextBackup returns how long it is until a server makes the next backup.
func NextBackup(ctx context.Context, q pg.Querier, every time.Duration) (time.Duration, error) {
	ms, err := pg.Value[*int64](ctx, q, `
		select ceil(extract(epoch from max(made_at) + make_interval(secs => $1) - clock_timestamp()) * 1000)::bigint
		from backup where scheduled`, every.Seconds())
	if ms == nil {
		return 0, err
	}
	return time.Duration(*ms) * time.Millisecond, err
}

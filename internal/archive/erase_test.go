package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/archive"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// erase runs the operation as the server does.
func erase(t *testing.T, a *app.App, member string, dry bool) (string, error) {
	t.Helper()
	for _, o := range a.Ops() {
		if o.Name == "user.erase" {
			answer, err := a.Runner.Call(t.Context(), o, op.Call{
				Actor: op.Actor{Type: op.User, ID: id.New(), Name: "admin", Scope: op.Full}, Surface: op.REST,
				Args: map[string]any{"id": member, "dry_run": dry}, RequestID: "test",
			})
			return string(answer.Body), err
		}
	}
	t.Fatal("there is no op user.erase")
	return "", nil
}

func everything(ctx context.Context, t *testing.T, db *pg.DB) map[string]string {
	t.Helper()
	tables, err := pg.Values[string](ctx, db, `select tablename::text from pg_tables where schemaname = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range tables {
		if out[name], err = pg.Value[string](ctx, db, `select coalesce(string_agg(x::text, E'\n' order by x::text),
			'') from `+name+` x`); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// marks put recognizable texts into every place that can contain the first member's data.
var marks = []string{
	`update member set name = 'CANARY-member', email = 'canary-1@example.com' where id = $1`,
	`update connection set credentials = 'CANARY-credentials'::bytea where member_id = $1`,
	`update connection c set institution_name = 'CANARY-bank' where member_id = $1
		and not exists (select from account a where a.connection_id = c.id and a.owner_id <> $1)`,
	`update account a set display_name = 'CANARY-account' from connection c
		where c.id = a.connection_id and coalesce(a.owner_id, c.member_id) = $1 and c.member_id = $1`,
	`insert into descriptor (name, merchant_name, detail, folded)
		values ('CANARY-wording', 'CANARY-merchant', 'CANARY-purpose', 'CANARY-folded')`,
	`update transaction set descriptor_id = (select id from descriptor where name = 'CANARY-wording')
		where id = (select t.id from transaction t join account a on a.id = t.account_id
		where a.display_name = 'CANARY-account' order by t.id limit 1) and $1::uuid is not null`,
	`insert into comment (id, short_id, transaction_id, content, author_type, author_name)
		select gen_random_uuid(), 'ca000001', t.id, 'CANARY-theirs', 'user', 'other' from transaction t
		join descriptor d on d.id = t.descriptor_id where d.name = 'CANARY-wording' and $1::uuid is not null`,
	`insert into comment (id, short_id, transaction_id, content, author_type, author_id, author_name)
		select gen_random_uuid(), 'ca000002', t.id, 'CANARY-elsewhere', 'user', $1, 'CANARY-author'
		from transaction t join account a on a.id = t.account_id where a.display_name is null order by t.id limit 1`,
	`insert into change (id, short_id, cause, summary, actor_type, actor_id, actor_name, transactions, entries)
		values (gen_random_uuid(), 'ca000001', 'api', 'x', 'user', $1, 'CANARY-actor', 1, 1),
		(gen_random_uuid(), 'ca000002', 'api', 'x', 'user', $1, 'CANARY-actor', 1, 1),
		(gen_random_uuid(), 'ca000003', 'api', 'x', 'user', $1, 'CANARY-actor', 1, 1)`,
	`update change set reverts = (select id from change where short_id = 'ca000002')
		where short_id = 'ca000003' and $1::uuid is not null`,
	`insert into entry (change_id, subject, subject_id, field, ref, after)
		select c.id, 'transaction', o.transaction_id, 'comment', o.id, 'CANARY-entry' from comment o, change c
		where o.short_id = 'ca000002' and c.short_id in ('ca000002', 'ca000003') and $1::uuid is not null`,
	`insert into entry (change_id, subject, subject_id, field, note)
		select c.id, 'transaction', o.transaction_id, 'category', 'CANARY-note' from comment o, change c
		where o.short_id = 'ca000002' and c.short_id = 'ca000001' and $1::uuid is not null`,
	`insert into entry (change_id, subject, subject_id, field, after)
		select c.id, 'account', a.id, 'record', '{"display_name": "CANARY-account"}' from account a, change c
		where a.display_name = 'CANARY-account' and c.short_id = 'ca000001' and $1::uuid is not null`,
	`insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence)
		select gen_random_uuid(), 'ca000001', a.id, b.id, 'mirror', 'rejected' from account a, account b
		where a.display_name = 'CANARY-account' and b.display_name is null and $1::uuid is not null
		order by a.id, b.id limit 1 on conflict do nothing`,
	`insert into entry (change_id, subject, subject_id, field, after)
		select c.id, 'account_link', l.id, 'record', '{"kind": "CANARY-link"}' from account_link l
		join account a on a.id in (l.primary_id, l.mirror_id), change c
		where a.display_name = 'CANARY-account' and c.short_id = 'ca000001' and $1::uuid is not null`,
	`insert into rule (id, short_id, name, conditions, actions, trigger, priority, created_by_type, created_by_id,
		created_by_name) values (gen_random_uuid(), 'ca000001', 'shared', '{}', '[{}]', 'always', 1, 'user', $1,
		'CANARY-rules')`,
	`insert into token (id, short_id, kind, hash, prefix, name, scope, actor_type, actor_name, member_id)
		values ('00000000-0000-7000-8000-00000000ca01', 'ca000001', 'api_key', '\x01', 'coffer_x', 'CANARY-key',
		'full_access', 'user', 'CANARY-by-key', $1)`,
	`insert into login (id, short_id, member_id, kind, identifier, proof)
		values (gen_random_uuid(), 'ca000001', $1, 'password', 'canary@example.com', 'CANARY-proof')`,
	`insert into comment (id, short_id, transaction_id, content, author_type, author_id, author_name)
		select gen_random_uuid(), 'ca000003', transaction_id, 'CANARY-by-key', 'user',
		'00000000-0000-7000-8000-00000000ca01', 'CANARY-by-key' from comment
		where short_id = 'ca000002' and $1::uuid is not null`,
	`insert into login (id, short_id, member_id, kind, identifier, proof)
		select gen_random_uuid(), 'ca000002', id, 'password', 'other@example.com', 'other' from member
		where id <> $1 and role = 'admin' order by id desc limit 1`,
	`insert into report (id, short_id, title, body, kind, author_type, author_id)
		values (gen_random_uuid(), 'ca000001', 'For all', 'x', 'summary', 'user', $1)`,
	`insert into descriptor (name, merchant_name, folded)
		values ('CANARY-wording until it posted', '', 'CANARY-folded')`,
	`insert into idempotency (actor_id, key, fingerprint, status, etag, body)
		values ($1, 'CANARY-key', '', 200, '', '')`,
}

// Erase removes everything that belongs to a member, and nothing of another member. A dry run lists
// exactly the same and changes nothing. If there is a lot of data, a job erases it with the same
// result.
func TestErase(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"at once": 1 << 40, "by a job": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lived(t, 2000)
			a.Archive.EraseAtMost(most)
			testErase(t, a, most == 0)
		})
	}
}

// work runs the app's jobs until none is left.
func work(t *testing.T, a *app.App) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Jobs.Run(ctx) }()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		left, err := pg.Values[string](t.Context(), a.DB,
			`select kind || ' ' || state || ' ' || coalesce(error_message, '') from job where state <> 'succeeded'`)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%v %v", left, err)
		}
		if len(left) == 0 {
			break
		}
	}
	stop()
	<-done
}

// rowsOf returns the number of rows of each table. It leaves out two tables with notes for the next
// sweep.
func rowsOf(t *testing.T, db *pg.DB, tables map[string]string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for name := range tables {
		if name == "form_due" || name == "proof_due" {
			continue
		}
		var err error
		if out[name], err = pg.Value[int64](t.Context(), db, `select count(*) from `+name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func testErase(t *testing.T, a *app.App, byJob bool) {
	t.Helper()
	ctx := t.Context()
	members, err := pg.Values[id.ID](ctx, a.DB, `select member_id from connection group by 1 order by 1`)
	if err != nil || len(members) < 2 {
		t.Fatalf("%v %v", members, err)
	}
	theirs := members[0]
	for _, s := range marks {
		args := []any{theirs}
		if !strings.Contains(s, "$1") {
			args = nil
		}
		if _, err := a.DB.Exec(ctx, s, args...); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	others := func() [32]byte { // the data of the other members
		rows, err := pg.Value[string](ctx, a.DB, `
			select string_agg(concat_ws(' ', t.id, t.short_id, t.account_id, t.provider_id, t.date, t.amount,
				t.currency, t.category_id, t.category_source, t.counterparty_id, t.created_at,
				t.deleted_at) || d.name || d.merchant_name || d.detail, E'\n' order by t.id) from transaction t
				join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id left
				join connection c on c.id = a.connection_id
			where coalesce(a.display_name, '') <> 'CANARY-account'`)
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256([]byte(rows))
	}
	kept, before, witness := others(), everything(ctx, t, a.DB), ledgertest.Watch(t, a.DB)
	rows, control := rowsOf(t, a.DB, before), 0
	for _, text := range before {
		control += strings.Count(strings.ToUpper(text), "CANARY")
	}
	if control < 15 {
		t.Fatalf("the control: only %d marks are there", control)
	}
	would, err := erase(t, a, theirs.String(), true)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range everything(ctx, t, a.DB) {
		if text != before[name] {
			t.Errorf("a dry run changed %s", name)
		}
	}
	did, err := erase(t, a, theirs.String(), false)
	if err != nil {
		t.Fatal(err)
	}
	var shown, told archive.Erasure
	if err := errors.Join(json.Unmarshal([]byte(would), &shown), json.Unmarshal([]byte(did), &told)); err != nil {
		t.Fatal(err)
	}
	if !shown.DryRun || told.DryRun || shown.JobID != nil || (told.JobID != nil) != byJob {
		t.Errorf("shown %s\ntold %s", would, did)
	}
	if told.JobID, told.DryRun = nil, true; !reflect.DeepEqual(shown, told) {
		t.Errorf("shown before:\n%s\ndone:\n%s", would, did)
	}
	t.Log(did)
	if byJob {
		if _, err := a.Auth.User(ctx, a.DB, auth.UserRef{ID: theirs.String()}); err == nil {
			t.Error("the member is still there")
		}
		// A second request returns the same job while it is unfinished. After that job was
		// canceled, a request starts another one.
		again := func() string {
			t.Helper()
			answer, err := erase(t, a, theirs.String(), false)
			var e archive.Erasure
			if err != nil || json.Unmarshal([]byte(answer), &e) != nil || e.JobID == nil {
				t.Fatalf("%s %v", answer, err)
			}
			return e.JobID.String()
		}
		first := again()
		if !strings.Contains(did, first) {
			t.Errorf("two jobs erase the same: %s", first)
		}
		if _, err := a.DB.Exec(ctx, `update job set state = 'cancelled', finished_at = now()`); err != nil {
			t.Fatal(err)
		}
		if again() == first {
			t.Error("nothing goes on after the job was cancelled")
		}
		// the canceled job still contains the names
		if _, err := a.DB.Exec(ctx, `delete from job where state = 'cancelled'`); err != nil {
			t.Fatal(err)
		}
		work(t, a)
	}
	after := everything(ctx, t, a.DB)
	left := rowsOf(t, a.DB, after)
	for _, g := range told.Erased {
		if g.Table != "descriptor" { // its rows stay, but blank
			rows[g.Table] -= g.Rows
		}
	}
	for name := range before {
		if rows[name] != left[name] && name != "job" {
			t.Errorf("%s should have %d rows and has %d", name, rows[name], left[name])
		}
	}
	for name, text := range after {
		if strings.Contains(strings.ToUpper(text), "CANARY") ||
			strings.Contains(text, fmt.Sprintf("\\x%x", "CANARY-credentials")) {
			t.Errorf("%s still has a mark of the erased", name)
		}
		if strings.Contains(text, theirs.String()) {
			t.Errorf("%s still has the id of the erased", name)
		}
	}
	if others() != kept {
		t.Error("something of the others changed")
	}
	if n := witness.Missed(); n > 0 || byJob && witness.Expected() == 0 {
		t.Errorf("%d of %d proofs would be out of date if the erasure were given up", n, witness.Expected())
	}
	if _, err := erase(t, a, theirs.String(), false); err == nil {
		t.Error("erased twice")
	}
	// The last admin cannot be erased, and their data stays.
	if _, err := a.DB.Exec(ctx, `update member set role = 'viewer' where id <> $1`, members[1]); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		if _, err := erase(t, a, members[1].String(), dry); err == nil || !strings.Contains(err.Error(), "only admin") {
			t.Errorf("the last admin, dry run %v: %v", dry, err)
		}
	}
}

// References to a deleted transaction or change must be found through an index. Otherwise a table
// would be read for each of a million rows.
func TestErasureFindsReferences(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	missing := func(parents ...string) []string {
		t.Helper()
		found, err := pg.Values[string](t.Context(), db, `
			select c.relname || '.' || a.attname from pg_constraint k join pg_class c on c.oid = k.conrelid
				join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
			where k.contype = 'f' and k.confrelid = any($1::text[]::regclass[]) and not exists (
				select from pg_index i where i.indrelid = k.conrelid and i.indkey[0] = a.attnum
					and (i.indpred is null
					or pg_get_expr(i.indpred,
					i.indrelid) = '(' || quote_ident(a.attname) || ' IS NOT NULL)'))`, parents)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := missing("transaction", "change"); len(found) > 0 {
		t.Errorf("no index begins with %v", found)
	}
	if _, err := db.Exec(t.Context(), `drop index comment_of_transaction`); err != nil {
		t.Fatal(err)
	}
	if found := missing("transaction"); len(found) != 1 {
		t.Errorf("the control: %v", found)
	}
}

// A deleted member is still named in the journal; erasing removes the name.
func TestEraseDeleted(t *testing.T) {
	t.Parallel()
	a := house(t, pgtest.URL(t))
	ctx := t.Context()
	for _, s := range []string{
		`insert into member (id, short_id, name, role, deleted_at)
			values ('00000000-0000-7000-8000-00000000ca02', 'ca000002', 'CANARY-member', 'member', now())`,
		`insert into change (id, short_id, cause, summary, actor_type, actor_id, actor_name, transactions, entries)
			values (gen_random_uuid(), 'ca000001', 'api', 'x', 'user', '00000000-0000-7000-8000-00000000ca02',
			'CANARY-actor', 1, 1)`,
		`insert into entry (change_id, subject, subject_id, field, note)
			select c.id, 'tag', t.id, 'record', 'CANARY-note' from change c, tag t`,
	} {
		if _, err := a.DB.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if did, err := erase(t, a, "ca000002", false); err != nil || !strings.Contains(did, `{"table":"member","rows":1}`) {
		t.Errorf("%s %v", did, err)
	}
	for name, text := range everything(ctx, t, a.DB) {
		if strings.Contains(text, "CANARY") {
			t.Errorf("%s still has a mark of the erased", name)
		}
	}
}

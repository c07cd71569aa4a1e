package ledger

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// shown selects the names of transactions in PostgreSQL, to compare names from memory with.
const shown = `
	select t.id, coalesce(a.display_name, a.name) as account, a.provider, a.connection_id, m.id as user_id,
		m.name as user_name, c.slug, c.display_name,
		array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
			where tt.transaction_id = t.id and tt.present and g.deleted_at is null order by g.slug collate "C") as tags
	from transaction t join account a on a.id = t.account_id left join connection cn on cn.id = a.connection_id left
		join member m on m.id = coalesce(a.owner_id, cn.member_id)
	left join category c on c.id = t.category_id`

type shownRow struct {
	ID          id.ID    `db:"id"`
	Account     string   `db:"account"`
	Provider    string   `db:"provider"`
	Connection  *id.ID   `db:"connection_id"`
	User        *id.ID   `db:"user_id"`
	UserName    *string  `db:"user_name"`
	Slug        *string  `db:"slug"`
	DisplayName *string  `db:"display_name"`
	Tags        []string `db:"tags"`
}

func (r shownRow) text(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wrong counts the transactions that books show with other names than PostgreSQL.
func wrong(t *testing.T, b *Books, q pg.Querier) int {
	t.Helper()
	rows, err := pg.All[shownRow](t.Context(), q, shown)
	if err != nil {
		t.Fatal(err)
	}
	want := map[id.ID]string{}
	for _, r := range rows {
		want[r.ID] = r.text(t)
	}
	page, err := b.Transactions(t.Context(), q, ListTransactions{Limit: 500})
	if err != nil || len(page.Transactions) != len(rows) {
		t.Fatalf("%d of %d transactions (%v)", len(page.Transactions), len(rows), err)
	}
	n := 0
	for _, x := range page.Transactions {
		got := shownRow{
			x.ID, x.AccountName.Plain(), string(x.Provider), x.ConnectionID, x.UserID, x.UserName,
			x.Category, x.CategoryDisplayName, x.Tags,
		}
		if got.text(t) != want[x.ID] {
			n++
		}
	}
	return n
}

// The test changes everything that a name depends on, and every server must show each change at
// once. Outside of database transactions servers notice changes by the version; inside they read
// the names again.
func TestNamesAreNeverStale(t *testing.T) {
	t.Parallel()
	first, db := filledBooks(t, 200)
	other, err := pg.Open(t.Context(), db.Config().ConnString(), pg.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	second := New(other, category.New(CategoryUser{}))
	member, connection := id.New(), id.New()
	if _, err := db.Exec(t.Context(), `insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from transaction t, tag g`); err != nil {
		t.Fatal(err)
	}
	stale := first.naming.Load()
	for _, change := range []string{
		`insert into member (id, short_id, name, role) values ('` + member.String() + `', 'm', 'Ada', 'admin')`,
		`insert into connection (id, short_id, member_id, provider)
			values ('` + connection.String() + `', 'c', '` + member.String() + `', 'csv')`,
		`update account set connection_id = '` + connection.String() + `'`,
		`update member set name = 'Grace'`,
		`update account set display_name = 'Ours'`,
		`update account set name = 'Theirs', display_name = null`,
		`update account set owner_id = (select id from member where short_id = '00000001')`,
		`update connection set member_id = (select id from member where short_id = '00000001')`,
		`update account set provider = 'csv'`,
		`update category set display_name = display_name || ' again'`,
		`update category set slug = 'x_' || slug`,
		`update category set deleted_at = now()`,
		`update tag set slug = 'new-' || slug`,
		`insert into tag (id, short_id, slug, display_name)
			values ('019a3c5e-4000-7000-a5f3-40707465aaaa', 't', 'Zz', 'Z');
			insert into transaction_tag (transaction_id, tag_id, present, source)
				select id, '019a3c5e-4000-7000-a5f3-40707465aaaa', true, 'rule' from transaction`,
		`update tag set deleted_at = now() where short_id = 't'`,
		`delete from transaction_tag; delete from tag`,
	} {
		if _, err := db.Exec(t.Context(), change); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		for _, b := range []*Books{first, second} {
			if n := wrong(t, b, b.db); n > 0 {
				t.Errorf("%s: %d have the old names", change, n)
			}
		}
		if first.naming.Load() == stale && !strings.Contains(change, "provider = 'csv'") {
			t.Errorf("%s: no new version", change)
		}
		stale = first.naming.Load()
	}
	before := first.naming.Load()
	undone := errors.New("undone")
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		if _, err := tx.Exec(t.Context(), `update account set name = 'Nobody''s'`); err != nil {
			return err
		}
		if n := wrong(t, first, tx); n > 0 {
			t.Errorf("inside the transaction %d have the old names", n)
		}
		return undone
	})
	if n := wrong(t, first, db); !errors.Is(err, undone) || n > 0 || first.naming.Load() != before {
		t.Errorf("after a rollback %d are wrong (%v)", n, err)
	}
	// The control: stale names are detected.
	spoilt := *before
	spoilt.accounts = map[id.ID]*namedAccount{}
	for u := range before.accounts {
		spoilt.accounts[u] = &namedAccount{name: "stale"}
	}
	first.naming.Store(&spoilt)
	if wrong(t, first, db) == 0 {
		t.Error("control: wrong names are not detected")
	}
}

// A category is looked up by its current names, even if a server has cached another category under
// the same name.
func TestCategoriesAreLookedUpAsTheyAre(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 300)
	ctx := as(t.Context(), op.User)
	ask := func(ref string) (counted, listed int64, err error) {
		n, err := b.Count(ctx, db, Filter{Category: []string{ref}})
		if err != nil {
			return 0, 0, err
		}
		page, err := b.Transactions(ctx, db, ListTransactions{Filter: Filter{Category: []string{ref}}, Limit: 500})
		return n.Count, int64(len(page.Transactions)), err
	}
	const slug = "food_and_drink_groceries"
	truth := func(ref string) (n int64) {
		t.Helper()
		n, err := pg.Value[int64](ctx, db, `
			with named as (select id from category where deleted_at is null
				and (id::text = $1 or slug = lower($1) or short_id = $1) order by (slug = lower($1)) desc limit 1)
			select count(*) from transaction t join category c on c.id = t.category_id
				and c.deleted_at is null, named n where n.id in (c.id, c.parent_id)`, ref)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if wrong(t, b, db) > 0 { // fills the cache
		t.Fatal("names are wrong from the start")
	}
	all, err := pg.Values[string](ctx, db, `select unnest(array[slug, id::text, short_id, upper(slug)]) from category
		where slug in ('food_and_drink', $1)`, slug)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		``,
		`update category set slug = 'swapped'
			where slug = '` + slug + `'; update category set slug = '` + slug + `' where slug = 'transport_fuel'`,
		`update category set parent_id = (select id from category where slug = 'food_and_drink')
			where slug = 'home_rent'`,
		`update category set slug = (select lower(short_id) from category where slug = 'food_and_drink')
			where slug = 'transport'`,
	} {
		if _, err := db.Exec(ctx, change); err != nil {
			t.Fatal(err)
		}
		for _, ref := range all {
			counted, listed, err := ask(ref)
			want := truth(ref)
			if err != nil || counted != want || listed != want {
				t.Errorf("%q, %s: counted %d, listed %d, want %d (%v)", change, ref, counted, listed, want, err)
			}
		}
	}
	if _, err := db.Exec(ctx, `update category set deleted_at = now() where slug = $1`, slug); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(slug); errs.Public(err, "").Code != errs.InvalidReference {
		t.Errorf("a deleted category: %v", err)
	}
}

func TestNamingIsMadeOnlyOutside(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	b := New(db, category.New(CategoryUser{}))
	err := db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := b.names(t.Context(), tx, id.New())
		return err
	})
	if err != nil || b.naming.Load() != nil {
		t.Errorf("names read inside a transaction were kept (%v)", err)
	}
}

// A server that only counts caches the names too, so its second count does not read them.
func TestCountsKeepTheNames(t *testing.T) {
	t.Parallel()
	_, db := filledBooks(t, 50)
	b := New(db, category.New(CategoryUser{}))
	filter := Filter{Category: []string{"food_and_drink"}}
	first, err := b.Count(t.Context(), db, filter)
	if err != nil {
		t.Fatal(err)
	}
	kept := b.naming.Load()
	if kept == nil {
		t.Fatal("the names are not kept")
	}
	again, err := b.Count(t.Context(), db, filter)
	if err != nil || again.Count != first.Count || b.naming.Load() != kept {
		t.Errorf("%+v, then %+v (%v)", first, again, err)
	}
}

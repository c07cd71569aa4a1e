package connection

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

// A vault is a bank that accepts any widget result. The token in the result becomes the access
// token.
type vault struct{ *bankBook }

func (vault) Session(context.Context, bank.LinkRequest) (bank.Session, error) {
	return bank.Session{}, nil
}

func (vault) Exchange(_ context.Context, _ string, given json.RawMessage) (bank.Linked, error) {
	var in struct {
		Token string `json:"public_token"`
	}
	err := json.Unmarshal(given, &in)
	return bank.Linked{
		Credentials:  bank.Credentials(fmt.Sprintf(`{"access_token":%q}`, in.Token)),
		ConnectionID: "item " + id.Base62(8), InstitutionName: text.Name("First Bank"),
	}, err
}

// newVault returns Connections on that database. It can create connections, and runs no jobs.
func newVault(t *testing.T, url string, ring *seal.Ring) *Connections {
	t.Helper()
	db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return feedOn(db, ring, vault{&bankBook{size: 1, truth: map[string]bank.Transaction{}}})
}

// readable reports whether a dump contains a secret, unchanged or in one of the encodings that a
// dump or a program uses for bytes.
func readable(dump []byte, secret string) bool {
	for _, form := range []string{
		secret, hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)],
		base64.RawURLEncoding.EncodeToString([]byte(secret))[:len(secret)],
	} {
		if bytes.Contains(dump, []byte(form)) {
			return true
		}
	}
	return false
}

// sealedAs reads all credentials in their stored form.
func (f *Connections) sealedAs(t *testing.T) map[id.ID][]byte {
	t.Helper()
	type row struct {
		ID          id.ID  `db:"id"`
		Credentials []byte `db:"credentials"`
	}
	rows, err := pg.All[row](t.Context(), f.db, `select id, credentials from connection where credentials is not null`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[id.ID][]byte{}
	for _, r := range rows {
		out[r.ID] = r.Credentials
	}
	return out
}

// After a thousand banks are linked, a dump contains none of their tokens. A ciphertext that was
// moved to another row does not open there.
func TestCredentialsAreSealed(t *testing.T) {
	t.Parallel()
	const n = 1000
	url := pgtest.URL(t)
	f := newVault(t, url, ringOf(t, oldKey))
	tokens := map[id.ID]string{}
	for len(tokens) < n {
		err := f.db.InTx(t.Context(), func(tx pg.Tx) error {
			for range 100 {
				token := "access-sandbox-" + id.Base62(32)
				in := CreateConnection{
					Provider:    "plaid",
					Credentials: map[string]json.RawMessage{"public_token": json.RawMessage(fmt.Sprintf("%q", token))},
				}
				asked, err := f.askBank(t.Context(), f.db, in)
				if err != nil {
					return err
				}
				c, err := f.CreateConnection(t.Context(), tx, in, asked)
				if err != nil {
					return err
				}
				tokens[c.ID] = token
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	dump := pgtest.Dump(t, url)
	found := 0
	for _, token := range tokens {
		if readable(dump, token) || readable(dump, token[len("access-sandbox-"):]) {
			found++
		}
	}
	if found > 0 || !bytes.Contains(dump, []byte("First Bank")) {
		t.Errorf("%d of %d tokens can be read in a dump of %d bytes", found, n, len(dump))
	}
	stored := f.sealedAs(t)
	var before []byte // of the previous row
	opened, moved := 0, 0
	for c, sealed := range stored {
		if plain, err := f.open(syncedConnection{ID: c, Credentials: sealed}); err == nil &&
			string(plain) == fmt.Sprintf(`{"access_token":%q}`, tokens[c]) {
			opened++
		}
		if _, err := f.open(syncedConnection{ID: c, Credentials: before}); err == nil {
			moved++
		}
		before = sealed
	}
	if opened != n || moved != 0 {
		t.Errorf("%d of %d open where they were sealed, %d elsewhere", opened, n, moved)
	}
	// The control: an unsealed token is found.
	var token string
	for _, token = range tokens {
		break
	}
	if _, err := pg.Exec(t.Context(), f.db, `update connection set credentials = convert_to($1, 'utf8')
		where id = (select min(id::text)::uuid from connection)`, token); err != nil {
		t.Fatal(err)
	}
	if !readable(pgtest.Dump(t, url), token) {
		t.Error("control: a token in clear text is not found")
	}
}

// Ten thousand credentials are sealed with a new key while they are read. No read fails, and
// afterwards the old key opens none of them.
func TestCredentialsRotateOnline(t *testing.T) {
	t.Parallel()
	const n = 10_000
	url := pgtest.URL(t)
	old, both := newVault(t, url, ringOf(t, oldKey)), newVault(t, url, ringOf(t, newKey, oldKey))
	var ids []id.ID
	err := old.db.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member limit 1`)
		if err != nil {
			return err
		}
		many := make([]NewConnection, n)
		for i := range many {
			many[i] = NewConnection{MemberID: member, Provider: "plaid"}
		}
		if ids, err = old.AddConnections(t.Context(), tx, many); err != nil {
			return err
		}
		sealed := make([][]byte, n)
		for i, c := range ids {
			if sealed[i], err = old.ring.Seal(credentialsPlace(c), []byte(c.String())); err != nil {
				return err
			}
		}
		_, err = pg.Exec(t.Context(), tx, `update connection set credentials = s.sealed
			from unnest($1::uuid[], $2::bytea[]) s (id, sealed) where connection.id = s.id`, ids, sealed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var reads, failed atomic.Int64
	end := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				c := ids[rand.IntN(n)]
				sealed, err := pg.Value[[]byte](t.Context(), both.db, `select credentials from connection
					where id = $1`, c)
				plain, wrong := both.open(syncedConnection{ID: c, Credentials: sealed})
				reads.Add(1)
				if err != nil || wrong != nil || string(plain) != c.String() {
					failed.Add(1)
				}
			}
		})
	}
	start := time.Now()
	done, err := both.db.Reseal(t.Context(), both.ring,
		pg.SealedColumn{Table: "connection", Column: "credentials", Key: "id"})
	took := time.Since(start)
	close(end)
	readers.Wait()
	if err != nil || done != n || failed.Load() > 0 || reads.Load() == 0 {
		t.Errorf("%d of %d rotated, %d of %d reads failed, %v", done, n, failed.Load(), reads.Load(), err)
	}
	if took > time.Minute { // on an idle machine it takes some seconds; the goal is ten
		t.Errorf("the rotation took %v", took)
	}
	fresh := newVault(t, url, ringOf(t, newKey))
	before, after := 0, 0
	for c, sealed := range fresh.sealedAs(t) {
		if _, err := old.open(syncedConnection{ID: c, Credentials: sealed}); err == nil {
			before++
		}
		if plain, err := fresh.open(syncedConnection{ID: c, Credentials: sealed}); err == nil &&
			string(plain) == c.String() {
			after++
		}
	}
	if before != 0 || after != n {
		t.Errorf("afterwards the old key opens %d, the new one %d of %d", before, after, n)
	}
	t.Logf("%d credentials rotated in %v, during %d reads", n, took.Round(time.Millisecond), reads.Load())
}

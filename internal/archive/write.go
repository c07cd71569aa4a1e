package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// The files of an archive besides the tables.
const (
	manifestName = "manifest.json"
	sumsName     = "SHA256SUMS"
	formatName   = "coffer archive"
	formatNumber = 3
	// developmentFormat is the last format of development versions before the first release. Their
	// migrations had different numbers.
	developmentFormat = 2
)

// A Manifest describes the contents of an archive.
type Manifest struct {
	Format  string    `json:"format"`
	Version int       `json:"format_version"`
	Kind    Kind      `json:"kind"`
	Coffer  string    `json:"coffer_version"`
	Schema  int64     `json:"schema"` // the last migration of the source database
	Created pg.Time   `json:"created_at"`
	Tables  []Content `json:"tables"`
	LeftOut []Missing `json:"left_out"`

	same bool // the same rows result in the same bytes: no compression, no times
}

// A Content describes one table of an archive: a file with a JSON object on each line.
type Content struct {
	Table   string   `json:"table"`
	File    string   `json:"file"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	Bytes   int64    `json:"bytes"`
	SHA256  string   `json:"sha256"`
}

// Missing names something that an archive does not contain, with the reason.
type Missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// development reports whether a development version wrote the archive. Its schema number then
// cannot be compared, and only loading shows whether the tables and columns fit.
func (m Manifest) development() bool { return m.Version <= developmentFormat }

// Transactions returns the number of transactions in the archive.
func (m Manifest) Transactions() int64 {
	for _, c := range m.Tables {
		if c.Table == "transaction" {
			return c.Rows
		}
	}
	return 0
}

func leftOut(k Kind) []Missing {
	out := []Missing{}
	for _, list := range []map[string]string{kept, never} {
		if k == Export || list["schema_version"] != "" {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				out = append(out, Missing{name, list[name]})
			}
		}
	}
	return out
}

// snapshot runs f on the state of the household at one moment, however long f takes. It opens its
// own connection, because those of the pool are for requests.
func snapshot(ctx context.Context, db *pg.DB, f func(pg.Tx) error) error {
	conn, err := pgx.ConnectConfig(ctx, db.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			// The receiver of the file may be slow.
			_, err := pg.Exec(ctx, tx, `select set_config('statement_timeout', '0', true),
			set_config('idle_in_transaction_session_timeout', '0', true)`)
			if err != nil {
				return err
			}
			return f(tx)
		})
}

// progress is called with the number of further rows that are done.
type progress func(rows int64)

// write writes the household to w as a zip file: one file for each table, then the manifest, then
// the checksums of all files in the format of sha256sum -c. All data is from one snapshot. It is
// streamed, so memory use does not grow with the household.
func (a *Archive) write(ctx context.Context, w io.Writer, k Kind, same bool, moved progress) (Manifest, error) {
	m := Manifest{
		Format: formatName, Version: formatNumber, Kind: k, Coffer: a.version, LeftOut: leftOut(k), same: same,
	}
	z := zip.NewWriter(w)
	err := snapshot(ctx, a.db, func(tx pg.Tx) (err error) {
		if m.Created, err = pg.Value[pg.Time](ctx, tx, `select now()`); err != nil {
			return err
		}
		if m.Schema, err = pg.Value[int64](ctx, tx, `select max(version_id) from schema_version`); err != nil {
			return err
		}
		all, err := tables(ctx, tx, k)
		if err != nil {
			return err
		}
		for _, t := range all {
			c := Content{Table: t.name, File: "data/" + t.name + ".ndjson", Columns: t.names()}
			file, err := m.create(z, c.File)
			if err != nil {
				return fmt.Errorf("write archive: %w", err)
			}
			if err := t.print(ctx, tx, file, &c, moved); err != nil {
				return fmt.Errorf("write %s: %w", t.name, err)
			}
			m.Tables = append(m.Tables, c)
		}
		return nil
	})
	if err != nil {
		return Manifest{}, err
	}
	return m, finish(z, m)
}

// create begins a file of the archive. Unless m.same is set, its time is that of the data.
func (m Manifest) create(z *zip.Writer, name string) (io.Writer, error) {
	if m.same {
		return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	}
	return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: m.Created.Time()})
}

// finish writes the manifest, the checksums and the zip directory.
func finish(z *zip.Writer, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	text = append(text, '\n')
	var sums strings.Builder
	for _, c := range m.Tables {
		fmt.Fprintf(&sums, "%s  %s\n", c.SHA256, c.File)
	}
	fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), manifestName)
	for _, part := range []struct{ name, content string }{{manifestName, string(text)}, {sumsName, sums.String()}} {
		file, err := m.create(z, part.name)
		if err == nil {
			_, err = io.WriteString(file, part.content)
		}
		if err != nil {
			return fmt.Errorf("write archive: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// print writes the table's rows, and stores their number, length and hash in c.
func (t table) print(ctx context.Context, q pg.Querier, w io.Writer, c *Content, moved progress) error {
	rows, err := q.Query(ctx, t.lines())
	if err != nil {
		return err
	}
	defer rows.Close()
	counter := &meter{w: w, hash: sha256.New()}
	out := bufio.NewWriterSize(counter, 64<<10)
	reported := int64(0)
	for rows.Next() {
		_, _ = out.Write(rows.RawValues()[0]) // Flush returns the error
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
		if c.Rows++; moved != nil && c.Rows-reported == 1000 {
			moved(c.Rows - reported)
			reported = c.Rows
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if moved != nil {
		moved(c.Rows - reported)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	c.Bytes, c.SHA256 = counter.n, fmt.Sprintf("%x", counter.hash.Sum(nil))
	return nil
}

// A meter counts and hashes the bytes that are written through it.
type meter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

// Write implements io.Writer.
func (m *meter) Write(b []byte) (int, error) {
	n, err := m.w.Write(b)
	m.hash.Write(b[:n])
	m.n += int64(n)
	return n, err
}

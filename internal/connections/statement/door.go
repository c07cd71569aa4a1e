package statement

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A FileMember is a file of an archive.
type FileMember struct {
	Name    text.Untrusted `json:"name" doc:"Untrusted: as the archive names it"`
	Format  string         `json:"format" doc:"Detected from its content; empty if it can't be read"`
	Rows    int            `json:"rows"`
	Problem string         `json:"problem,omitempty" doc:"Why it can't be read; it is left out"`
}

// A delivered holds what a caller sent, after it was recognized: a file, or the readable files of
// an archive.
type delivered struct {
	files   []namedFile
	members []FileMember // of an archive
}

type namedFile struct {
	statement.File
	name string
}

// A look is a function that finds out how to read a file.
type look func(f statement.Format, file io.ReaderAt) (statement.File, error)

// receive runs open on each file that a caller sent. Files are recognized by their content alone.
// If one file of an archive can't be read, the others are still read.
func (s *Statements) receive(raw []byte, open look) (delivered, error) {
	members, err := statement.Unpack(raw)
	if err != nil {
		return delivered{}, err
	}
	var out delivered
	var first error
	for _, m := range members {
		content := bytes.NewReader(m.Content)
		format, err := statement.Detect(s.formats, content)
		var file statement.File
		if err == nil {
			file, err = open(format, content)
		}
		if m.Name == "" && err != nil {
			return delivered{}, err
		}
		member := FileMember{Name: text.Name(m.Name), Format: file.Format.Name, Rows: file.RowsTotal}
		if err != nil {
			public, known := errors.AsType[*errs.Error](err)
			if !known {
				return delivered{}, err
			}
			first = cmp.Or(first, err)
			member.Format, member.Problem = "", public.Message
		} else {
			out.files = append(out.files, namedFile{file, m.Name})
		}
		if m.Name != "" {
			out.members = append(out.members, member)
		}
	}
	if len(out.files) == 0 {
		return delivered{}, first
	}
	slices.SortStableFunc(out.files, func(a, b namedFile) int { return cmp.Compare(a.FirstDate, b.FirstDate) })
	return out, nil
}

// format returns the format that all files have, or else that of an archive.
func (d delivered) format() FileFormat {
	f := d.files[0]
	out := FileFormat{Name: f.Format.Name, Title: f.Format.Title}
	if f.Version != "" {
		out.Version = &f.Version
	}
	for _, o := range d.files[1:] {
		if o.Format.Name != f.Format.Name {
			return FileFormat{Name: "zip", Title: "ZIP"}
		}
		if o.Version != f.Version {
			out.Version = nil
		}
	}
	return out
}

// warnings returns the warnings of the files, each code once, and one about files that are left
// out.
func (d delivered) warnings() (out []statement.Warning) {
	for _, f := range d.files {
		for _, w := range f.Warnings {
			same := func(o statement.Warning) bool { return o.Code == w.Code }
			if len(d.files) == 1 || !slices.ContainsFunc(out, same) {
				out = append(out, w)
			}
		}
	}
	if n := len(d.members) - len(d.files); n > 0 {
		out = append(out, statement.Warning{
			Code:    "files_unread",
			Message: fmt.Sprintf("%d of %d files in the zip file can't be read; they are left out", n, len(d.members)),
		})
	}
	return out
}

// A portion holds what a caller sent for one account.
type portion struct {
	statement.Account
	key   string
	files []statement.File // the files that have rows of the account, in the order of their days
	of    []int            // the indexes of these files among those that were sent
}

// soleKey is the key of an account that neither the file's content nor a file name identifies.
const soleKey = "account"

// portions returns what was sent for each account. Accounts with the same key in several files are
// one account. Files that name no account are separate accounts.
func (d delivered) portions() (out []portion) {
	at := map[string]int{}
	for n, f := range d.files {
		for _, a := range f.Accounts() {
			key, shown := a.Key.Plain(), a.Key.Plain()
			if key == "" {
				key = cmp.Or(a.IBAN.Plain(), a.Number.Plain(), "\x00"+f.name)
				shown = cmp.Or(a.IBAN.Plain(), a.Number.Plain(), f.name, soleKey)
			}
			key = f.Format.Name + "\x00" + key
			i, known := at[key]
			if !known {
				i, at[key] = len(out), len(out)
				out = append(out, portion{key: unlike(out, text.Name(shown).Plain())})
			}
			out[i].add(n, f.Of(a), a)
		}
	}
	return out
}

// unlike returns a key that no other portion has: two formats may use the same name for an account.
func unlike(all []portion, key string) string {
	for n := 2; slices.ContainsFunc(all, func(p portion) bool { return p.key == key }); n++ {
		key = fmt.Sprintf("%s (%d)", key, n)
	}
	return key
}

// whole returns all that was sent as one portion, as if it were one account.
func (d delivered) whole() portion {
	out := portion{key: soleKey}
	for n, f := range d.files {
		for _, a := range f.Accounts() {
			out.add(-1, statement.File{}, a)
		}
		out.files, out.of = append(out.files, f.File), append(out.of, n)
	}
	return out
}

// add adds a file's data of the account. If n is negative, it adds only the counts.
func (p *portion) add(n int, f statement.File, a statement.Account) {
	if n >= 0 {
		p.files, p.of = append(p.files, f), append(p.of, n)
	}
	if p.Rows+p.RowsRejected+len(p.Skipped)+len(p.Points) == 0 && p.Key == "" {
		p.Account = a
		p.Skipped, p.Rejected = slices.Clone(a.Skipped), slices.Clone(a.Rejected)
		p.Points = slices.Clone(a.Points)
		return
	}
	p.Rows, p.RowsRejected = p.Rows+a.Rows, p.RowsRejected+a.RowsRejected
	p.Rejected, p.Points = append(p.Rejected, a.Rejected...), append(p.Points, a.Points...)
	p.FirstDate, p.LastDate = least(p.FirstDate, a.FirstDate), max(p.LastDate, a.LastDate)
	p.From, p.To = least(p.From, a.From), max(p.To, a.To)
	for _, s := range a.Skipped {
		p.Skipped = addReason(p.Skipped, s)
	}
}

func addReason(all []statement.Skipped, s statement.Skipped) []statement.Skipped {
	i := slices.IndexFunc(all, func(o statement.Skipped) bool { return o.Reason == s.Reason })
	if i < 0 {
		return append(all, s)
	}
	all[i].Count += s.Count
	return all
}

// least returns the earlier of two days, either of which may be unknown.
func least(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// file returns the portion's first file, which describes the account.
func (p portion) file() statement.File { return p.files[0] }

// currency returns the currency of the account's rows, or the usual one if the rows state none.
func (p portion) currency() money.Currency {
	return cmp.Or(p.Currency, p.file().Currency, p.file().DefaultCurrency)
}

// numberOf returns the number by which coffer recognizes the next file of the account, or "" if the
// file has none. An IBAN is the same in each format; other numbers can only be compared within
// their kind.
func (p portion) numberOf() (kind, number string) {
	switch {
	case p.IBAN != "":
		return "iban", p.IBAN.Plain()
	case p.Number != "" || p.Name != "" && p.file().Table == nil:
		return p.file().Format.Name, p.Key.Plain()
	}
	return "", ""
}

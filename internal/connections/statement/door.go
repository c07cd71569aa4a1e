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

// A delivered is what a caller sent, understood: a file, or those of an archive that can be read.
type delivered struct {
	files   []namedFile
	members []FileMember // of an archive
}

type namedFile struct {
	statement.File
	name string
}

// A look finds out how a file is read.
type look func(f statement.Format, file io.ReaderAt) (statement.File, error)

// receive looks at each file of what a caller sent, by its content alone. One file of an archive
// that can't be read does not keep the others out.
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

// format is that of all files, or an archive.
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

// warnings are those of the files, each code once, and one about files that are left out.
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

// A portion is what a caller sent for one of its accounts.
type portion struct {
	statement.Account
	key   string
	files []statement.File // that have rows of it, in the order of their days
	of    []int            // their places among the files that were sent
}

// soleKey is the key of an account that nothing in its file names.
const soleKey = "account"

// portions returns what was sent for each account. An account with the same key in several files is
// one account; files that name none are apart.
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

// unlike returns a key that no other portion has: two formats may name an account alike.
func unlike(all []portion, key string) string {
	for n := 2; slices.ContainsFunc(all, func(p portion) bool { return p.key == key }); n++ {
		key = fmt.Sprintf("%s (%d)", key, n)
	}
	return key
}

// whole returns all that was sent as if it were of one account.
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

// add takes what a file has of the account; n is below 0 if only its counts are wanted.
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

// least is the smaller one of two days, of which either may be unknown.
func least(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// file is the portion's first file, which says what the account is.
func (p portion) file() statement.File { return p.files[0] }

// currency is that of the account's rows; usual if they state none.
func (p portion) currency() money.Currency {
	return cmp.Or(p.Currency, p.file().Currency, p.file().DefaultCurrency)
}

// numberOf returns by what the next file of the account is known again, and "" if the file does not
// name it. An IBAN is the same in each format; other numbers only compare with those of their kind.
func (p portion) numberOf() (kind, number string) {
	switch {
	case p.IBAN != "":
		return "iban", p.IBAN.Plain()
	case p.Number != "" || p.Name != "" && p.file().Table == nil:
		return p.file().Format.Name, p.Key.Plain()
	}
	return "", ""
}

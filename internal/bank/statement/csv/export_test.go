package csv

import (
	"io"

	"coffer/internal/bank/statement"
)

// File returns the file with this content, read as the preview says, as the type that all formats
// share.
func (p Preview) File(content io.ReaderAt) statement.File {
	out, err := p.statement()
	if err != nil {
		panic(err)
	}
	return statement.File{Preview: out, Format: Format, Content: content}
}

// Fields returns the names of a mapping's fields.
func Fields() (names []string) {
	for _, s := range (&Mapping{}).slots() {
		names = append(names, s.name)
	}
	return names
}

package csvfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"coffer/internal/errs"
)

// magics begin files that people mistake for CSV.
var magics = map[string][]string{
	"an Excel workbook or a compressed file":          {"\xd0\xcf\x11\xe0", "PK\x03\x04", "\x1f\x8b"},
	"a PDF or a picture":                              {"%PDF", "\x89PNG", "\xff\xd8\xff"},
	"an XML or OFX file":                              {"<?xml", "OFXHEADER"},
	"a web page (your bank session may have expired)": {"<!DOCTYPE", "<!doctype", "<html"},
}

// marks are the byte order marks.
var marks = []struct{ mark, encoding string }{
	{"\xef\xbb\xbf", UTF8BOM},
	{"\xff\xfe", UTF16LE},
	{"\xfe\xff", UTF16BE},
}

// decoders turn every encoding but UTF-8 into it.
var decoders = map[string]encoding.Encoding{
	UTF16LE:     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	UTF16BE:     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	Windows1252: charmap.Windows1252,
	Windows1250: charmap.Windows1250,
}

// encodingNames are other words for the encodings.
var encodingNames = map[string]string{
	"utf8": UTF8, "utf8bom": UTF8BOM, "utf8sig": UTF8BOM, "utf16": UTF16LE, "utf16le": UTF16LE, "utf16be": UTF16BE,
	"windows1252": Windows1252, "cp1252": Windows1252, "iso88591": Windows1252, "latin1": Windows1252, "ascii": UTF8,
	"usascii":     UTF8,
	"windows1250": Windows1250, "cp1250": Windows1250,
}

// parseEncoding reads an encoding's name as people write it.
func parseEncoding(s string) (string, bool) {
	e, ok := encodingNames[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))]
	return e, ok
}

// open gives the text of a file from its beginning, without a byte order mark.
func open(file io.ReaderAt, encoding string) io.Reader {
	var head [3]byte
	n, _ := file.ReadAt(head[:], 0)
	skip := 0
	for _, m := range marks {
		// A mark that contradicts what a caller fixed is left for the cleaning of cells to drop.
		if bytes.HasPrefix(head[:n], []byte(m.mark)) &&
			strings.HasPrefix(m.encoding, strings.TrimSuffix(encoding, "-bom")) {
			skip = len(m.mark)
		}
	}
	r := io.NewSectionReader(file, int64(skip), math.MaxInt64-int64(skip))
	if e, ok := decoders[encoding]; ok {
		return e.NewDecoder().Reader(r)
	}
	return r
}

// detectEncoding reads the whole file, because the only byte that decides may be in the last row.
// It reports whether parts of the file cannot be read.
func detectEncoding(ctx context.Context, file io.ReaderAt) (name string, damaged bool, err error) {
	c, err := count(ctx, file)
	if err != nil {
		return "", false, err
	}
	for what, begins := range magics {
		if slices.ContainsFunc(begins, func(m string) bool { return strings.HasPrefix(c.head, m) }) {
			return "", false, errs.New(errs.UnsupportedMediaType,
				"this is %s, not a CSV; export the statement as CSV", what)
		}
	}
	for _, m := range marks {
		if strings.HasPrefix(c.head, m.mark) {
			return m.encoding, m.encoding == UTF8BOM && c.invalid > 0, nil
		}
	}
	half := c.size / 2
	switch {
	case c.size == 0:
		return "", false, errs.New(errs.InvalidBody, "the file is empty")
	case c.odd*10 > half*4 && c.even*10 < half:
		return UTF16LE, false, nil
	case c.even*10 > half*4 && c.odd*10 < half:
		return UTF16BE, false, nil
	case (c.odd+c.even)*20 > c.size:
		return "", false, errs.New(errs.UnsupportedMediaType,
			"this is not a text file; export the statement as CSV")
	case c.invalid == 0:
		return UTF8, false, nil
	case c.valid >= 4*c.invalid:
		// chance makes hardly any sequence valid, so a few bad bytes among many good ones are
		// damage
		return UTF8, true, nil
	}
	return Windows1252, false, nil
}

// counts are the bytes of a file that indicate its encoding.
type counts struct {
	head           string
	size           int
	odd, even      int // zero bytes by their position
	valid, invalid int // sequences of UTF-8 beyond ASCII
}

func count(ctx context.Context, file io.ReaderAt) (counts, error) {
	var c counts
	buf := make([]byte, 64<<10)
	kept := 0 // bytes of a sequence that the last block cut
	for {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		n, err := file.ReadAt(buf[kept:], int64(c.size))
		last := n == 0 || errors.Is(err, io.EOF)
		if err != nil && !last {
			return c, err
		}
		block := buf[:kept+n]
		for i, b := range block[kept:] {
			if b == 0 {
				if (c.size+i)%2 == 0 {
					c.even++
				} else {
					c.odd++
				}
			}
		}
		if c.size == 0 {
			c.head = string(block[:min(len(block), 16)])
		}
		c.size += n
		if c.size > MaxSize {
			return c, errs.New(errs.PayloadTooLarge, "the file is larger than %d MiB; split it by year", MaxSize>>20)
		}
		kept = c.sequences(block, last)
		copy(buf, block[len(block)-kept:])
		if last {
			return c, nil
		}
	}
}

// sequences counts the sequences of a block and returns how many of its last bytes belong to the
// next one.
func (c *counts) sequences(block []byte, last bool) (rest int) {
	for len(block) > 0 {
		if block[0] < utf8.RuneSelf {
			block = block[1:]
			continue
		}
		if !last && !utf8.FullRune(block) {
			return len(block)
		}
		r, size := utf8.DecodeRune(block)
		if r == utf8.RuneError && size == 1 {
			c.invalid++
		} else {
			c.valid++
		}
		block = block[size:]
	}
	return 0
}

package reading

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
)

// The encodings.
const (
	UTF8        = "utf-8"
	UTF8BOM     = "utf-8-bom"
	UTF16LE     = "utf-16le"
	UTF16BE     = "utf-16be"
	Windows1252 = "windows-1252"
	Windows1250 = "windows-1250"
	latin2      = "iso-8859-2"
	latin9      = "iso-8859-15"
)

// marks are the byte order marks.
var marks = []struct{ mark, encoding string }{
	{"\xef\xbb\xbf", UTF8BOM},
	{"\xff\xfe", UTF16LE},
	{"\xfe\xff", UTF16BE},
}

// decoders convert every other encoding to UTF-8.
var decoders = map[string]encoding.Encoding{
	UTF16LE:     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	UTF16BE:     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	Windows1252: charmap.Windows1252,
	Windows1250: charmap.Windows1250,
	latin2:      charmap.ISO8859_2,
	latin9:      charmap.ISO8859_15,
}

// encodingNames maps other names of the encodings.
var encodingNames = map[string]string{
	"utf8": UTF8, "utf8bom": UTF8BOM, "utf8sig": UTF8BOM, "utf16": UTF16LE, "utf16le": UTF16LE, "utf16be": UTF16BE,
	"windows1252": Windows1252, "cp1252": Windows1252, "iso88591": Windows1252, "latin1": Windows1252, "ascii": UTF8,
	"usascii":     UTF8,
	"windows1250": Windows1250, "cp1250": Windows1250, "1252": Windows1252, "88591": Windows1252, "1250": Windows1250,
	"iso88592": latin2, "latin2": latin2, "iso885915": latin9, "latin9": latin9,
}

// ParseEncoding reads an encoding's name as people write it.
func ParseEncoding(s string) (string, bool) {
	e, ok := encodingNames[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))]
	return e, ok
}

// Open returns the text of a file as UTF-8, without a byte order mark.
func Open(file io.ReaderAt, encoding string) io.Reader {
	var head [3]byte
	n, _ := file.ReadAt(head[:], 0)
	skip := 0
	for _, m := range marks {
		// If a mark contradicts the encoding that the caller chose, it stays; cleaning the cells
		// removes it.
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

// DetectEncoding reads the whole file, because the only byte that decides may be in the last row.
// Damaged reports that parts of the file can't be read.
func DetectEncoding(ctx context.Context, file io.ReaderAt) (name string, damaged bool, err error) {
	c, err := count(ctx, file)
	if err != nil {
		return "", false, err
	}
	return c.encoding()
}

// Text determines the encoding of a file that may declare one. The bytes take precedence over the
// declaration, which is often wrong.
func Text(ctx context.Context, file io.ReaderAt, declared string) (string, []statement.Warning, error) {
	c, err := count(ctx, file)
	if err != nil {
		return "", nil, err
	}
	encoding, damaged, err := c.encoding()
	if err != nil {
		return "", nil, err
	}
	stated, known := ParseEncoding(declared)
	if encoding == Windows1252 && known && stated != UTF8 && stated != UTF16LE && stated != UTF16BE {
		encoding = stated
	}
	var warnings []statement.Warning
	if damaged {
		warnings = append(warnings, statement.Warning{
			Code: "unreadable_characters", Message: "some characters of the file are damaged and were removed",
		})
	}
	shows := c.valid+c.invalid > 0 && encoding != UTF16LE && encoding != UTF16BE
	if shows && known && stated != encoding && (stated != UTF8 || encoding != UTF8BOM) {
		warnings = append(warnings, statement.Warning{
			Code: "encoding_mislabelled",
			Message: "the file says that its characters are " + stated + "; they are " + encoding +
				" and were read as such",
		})
	}
	return encoding, warnings, nil
}

// encoding returns the encoding that the bytes show.
func (c *counts) encoding() (name string, damaged bool, err error) {
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
		// Valid UTF-8 sequences hardly occur by chance, so a few invalid bytes among many valid
		// sequences are damage.
		return UTF8, true, nil
	}
	return Windows1252, false, nil
}

// counts holds the numbers of bytes that indicate an encoding.
type counts struct {
	head           string
	size           int
	odd, even      int // zero bytes by position
	valid, invalid int // UTF-8 sequences beyond ASCII
}

func count(ctx context.Context, file io.ReaderAt) (counts, error) {
	var c counts
	buf := make([]byte, 64<<10)
	kept := 0 // bytes of an incomplete sequence at the end of the last block
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
		if c.size > statement.MaxSize {
			return c, errs.New(errs.PayloadTooLarge, "the file is larger than %d MiB; split it by year",
				statement.MaxSize>>20)
		}
		kept = c.sequences(block, last)
		copy(buf, block[len(block)-kept:])
		if last {
			return c, nil
		}
	}
}

// sequences counts the UTF-8 sequences of a block. It returns how many bytes at the end belong to a
// sequence that the next block continues.
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

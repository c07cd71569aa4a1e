package qr

import (
	"strings"
	"testing"
)

// A reader reads QR codes like a scanner with a perfect image. It shares no code with the encoder.
// It implements ISO 18004 for byte mode, error correction level L, and versions 1 to 5, which have
// one block.
type reader struct {
	*testing.T
	dark []string
}

// sizes are the bytes of text and of error correction in versions 1 to 5, and the position of the
// alignment pattern's center.
var sizes = []struct{ data, check, align int }{{19, 7, 0}, {34, 10, 18}, {55, 15, 22}, {80, 20, 26}, {108, 26, 30}}

// formats are the format bits of the standard for level L and masks 0 to 7.
var formats = []string{
	"111011111000100", "111001011110011", "111110110101010", "111100010011101", "110011000101111", "110001100011000",
	"110110001000001", "110100101110110",
}

var masks = []func(row, column int) bool{
	func(r, c int) bool { return (r+c)%2 == 0 },
	func(r, _ int) bool { return r%2 == 0 },
	func(_, c int) bool { return c%3 == 0 },
	func(r, c int) bool { return (r+c)%3 == 0 },
	func(r, c int) bool { return (r/2+c/3)%2 == 0 },
	func(r, c int) bool { return r*c%2+r*c%3 == 0 },
	func(r, c int) bool { return (r*c%2+r*c%3)%2 == 0 },
	func(r, c int) bool { return ((r+c)%2+r*c%3)%2 == 0 },
}

// mask returns the mask of the code. Both copies of the format must agree.
func (r reader) mask() int {
	size := len(r.dark)
	var first, second strings.Builder // from the most significant bit
	for i := 14; i >= 0; i-- {
		switch {
		case i < 6:
			first.WriteByte(r.dark[i][8])
		case i < 8:
			first.WriteByte(r.dark[i+1][8])
		case i == 8:
			first.WriteByte(r.dark[8][7])
		default:
			first.WriteByte(r.dark[8][14-i])
		}
		if i < 8 {
			second.WriteByte(r.dark[8][size-1-i])
		} else {
			second.WriteByte(r.dark[size-15+i][8])
		}
	}
	for mask, format := range formats {
		if first.String() == format && second.String() == format {
			return mask
		}
	}
	r.Fatalf("the formats are %s and %s", &first, &second)
	return 0
}

// patterns compares the modules that carry no data with the standard, and returns their positions.
func (r reader) patterns(align int) map[[2]int]bool {
	size, fixed := len(r.dark), map[[2]int]bool{}
	expect := func(y, x int, dark bool) {
		fixed[[2]int{y, x}] = true
		if (r.dark[y][x] == '1') != dark {
			r.Fatalf("the module in row %d, column %d is wrong", y, x)
		}
	}
	square := func(row, column, reach int, dark func(ring int) bool) {
		for y := max(row-reach, 0); y <= min(row+reach, size-1); y++ {
			for x := max(column-reach, 0); x <= min(column+reach, size-1); x++ {
				expect(y, x, dark(max(y-row, row-y, x-column, column-x)))
			}
		}
	}
	finder := func(ring int) bool { return ring != 2 && ring != 4 }
	square(3, 3, 4, finder)
	square(3, size-4, 4, finder)
	square(size-4, 3, 4, finder)
	if align > 0 {
		square(align, align, 2, func(ring int) bool { return ring != 1 })
	}
	for i := 8; i < size-8; i++ {
		expect(6, i, i%2 == 0)
		expect(i, 6, i%2 == 0)
	}
	expect(size-8, 8, true)
	for i := range 9 { // the formats, which mask has read
		fixed[[2]int{8, i}], fixed[[2]int{i, 8}] = true, true
		if i < 8 {
			fixed[[2]int{8, size - 1 - i}], fixed[[2]int{size - 1 - i, 8}] = true, true
		}
	}
	return fixed
}

// words returns the bytes of the code: from pairs of columns, starting at the right, up and down by
// turns.
func (r reader) words(fixed map[[2]int]bool) []byte {
	size, unmask := len(r.dark), masks[r.mask()]
	var words []byte
	n, up := 0, true
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 { // the timing column
			right--
		}
		for i := range size {
			row := i
			if up {
				row = size - 1 - i
			}
			for _, column := range []int{right, right - 1} {
				if fixed[[2]int{row, column}] {
					continue
				}
				if n%8 == 0 {
					words = append(words, 0)
				}
				if (r.dark[row][column] == '1') != unmask(row, column) {
					words[n/8] |= 0x80 >> (n % 8)
				}
				n++
			}
		}
		up = !up
	}
	return words
}

// times multiplies in the field of 256 elements with the polynomial 0x11d.
func times(a, b byte) byte {
	var out int
	for x, y := int(a), int(b); y > 0; y >>= 1 {
		if y&1 == 1 {
			out ^= x
		}
		if x <<= 1; x&0x100 != 0 {
			x ^= 0x11d
		}
	}
	return byte(out)
}

// correct fails unless the words are a valid word of the Reed-Solomon code: each syndrome is 0.
func (r reader) correct(words []byte, check int) {
	for i, root := 0, byte(1); i < check; i, root = i+1, times(root, 2) {
		sum := byte(0)
		for _, w := range words {
			sum = times(sum, root) ^ w
		}
		if sum != 0 {
			r.Fatalf("syndrome %d is %d", i, sum)
		}
	}
}

func read(t *testing.T, c Code) string {
	t.Helper()
	r := reader{t, c.Rows()}
	v := sizes[(len(r.dark)-21)/4]
	words := r.words(r.patterns(v.align))[:v.data+v.check]
	r.correct(words, v.check)
	if words[0]>>4 != 4 {
		t.Fatalf("mode %d", words[0]>>4)
	}
	n := int(words[0]&15)<<4 | int(words[1]>>4)
	var out strings.Builder
	for i := range n {
		out.WriteByte(words[i+1]<<4 | words[i+2]>>4)
	}
	return out.String()
}

// The reader accepts the error correction of the well-known example, HELLO WORLD in version 1-M,
// and rejects it if one bit differs.
func TestReaderChecksErrorCorrection(t *testing.T) {
	t.Parallel()
	words := []byte{
		32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17, // text
		196, 35, 39, 119, 235, 215, 231, 226, 93, 23, // correction
	}
	reader{T: t}.correct(words, 10)
	for i := range words {
		sum := byte(0)
		for k, w := range words { // the first syndrome, whose root is 1
			if k == i {
				w ^= 1
			}
			sum ^= w
		}
		if sum == 0 {
			t.Errorf("a wrong byte %d is not seen", i)
		}
	}
}

// The drawn codes can be read, in each size that an address of this server needs.
func TestCodesCanBeRead(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 106; n++ {
		text := strings.Repeat("https://192.168.178.20:8443/", 4)[:n]
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, c); got != text {
			t.Errorf("%q, want %q", got, text)
		}
		if size := len(c.Rows()); size != 21 && n <= 17 || size > 37 {
			t.Errorf("%d bytes need %d rows", n, size)
		}
		compareDrawing(t, c)
	}
	if _, err := Encode(strings.Repeat("x", 3000)); err == nil {
		t.Error("a text that is too long was drawn")
	}
}

// compareDrawing compares each half block of a terminal with its module.
func compareDrawing(t *testing.T, c Code) {
	t.Helper()
	rows := c.Rows()
	lines := strings.Split(strings.TrimSuffix(c.String(), "\n"), "\n")
	if len(lines) != (len(rows)+9)/2 {
		t.Fatalf("%d lines", len(lines))
	}
	dark := func(y, x int) bool {
		inside := y >= 0 && y < len(rows) && x >= 0 && x < len(rows)
		return inside && rows[y][x] == '1' || y == len(rows)+4 // a row below the last is not drawn
	}
	for i, line := range lines {
		for k, r := range []rune(line) {
			y, x := 2*i-4, k-4
			want := map[[2]bool]rune{{}: '█', {false, true}: '▀', {true, false}: '▄', {true, true}: ' '}[[2]bool{dark(y, x), dark(y+1, x)}]
			if r != want {
				t.Fatalf("line %d, column %d is %c, want %c", i, k, r, want)
			}
		}
	}
}

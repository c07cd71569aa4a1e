package qr

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestCorrection compares the error correction with the well-known example: HELLO WORLD in version
// 1-M.
func TestCorrection(t *testing.T) {
	t.Parallel()
	data := []byte{32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17}
	want := []byte{196, 35, 39, 119, 235, 215, 231, 226, 93, 23}
	if got := correction(data, 10); !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFormat compares the format with the table of the standard.
func TestFormat(t *testing.T) {
	t.Parallel()
	for mask, want := range []string{
		"111011111000100", "111001011110011", "111110110101010", "111100010011101", "110011000101111", "110001100011000",
		"110110001000001", "110100101110110",
	} {
		if got := fmt.Sprintf("%015b", formatBits(mask)); got != want {
			t.Errorf("mask %d: %s, want %s", mask, got, want)
		}
	}
}

// read reads a code as a scanner does that sees it without a fault.
func read(t *testing.T, c *Code) string {
	t.Helper()
	format := 0
	for i := range 8 {
		if c.dark[8][c.size-1-i] {
			format |= 1 << i
		}
	}
	mask := -1
	for m := range masks {
		if formatBits(m)&0xff == format {
			mask = m
		}
	}
	if mask < 0 {
		t.Fatalf("no format: %08b", format)
	}
	var bits bitList
	c.walk(func(row, column int) { bits = append(bits, c.dark[row][column] != masks[mask](row, column)) })
	v := versions[(c.size-21)/4]
	words := bits.bytes()[:v.data+v.check]
	for i, root := 0, byte(1); i < v.check; i, root = i+1, times(root, 2) { // each syndrome is 0
		sum := byte(0)
		for _, w := range words {
			sum = times(sum, root) ^ w
		}
		if sum != 0 {
			t.Fatalf("syndrome %d is %d", i, sum)
		}
	}
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

func TestEncode(t *testing.T) {
	t.Parallel()
	for n := range 107 {
		text := strings.Repeat("https://192.168.178.20:8443/", 4)[:n]
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, c); got != text {
			t.Errorf("%q, want %q", got, text)
		}
		if lines := strings.Split(strings.TrimSuffix(c.String(), "\n"), "\n"); len(lines) != (c.size+9)/2 {
			t.Errorf("%d lines", len(lines))
		}
	}
	if _, err := Encode(strings.Repeat("x", 107)); err == nil {
		t.Error("a text that is too long was drawn")
	}
}

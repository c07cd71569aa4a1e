package browser_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"testing"
)

// shrink writes a picture again with at most 256 shades, and returns its size in bytes.
func shrink(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	full, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	small := image.NewPaletted(full.Bounds(), palette(full))
	nearest := map[color.Color]uint8{}
	for y := full.Bounds().Min.Y; y < full.Bounds().Max.Y; y++ {
		for x := full.Bounds().Min.X; x < full.Bounds().Max.X; x++ {
			c := full.At(x, y)
			i, known := nearest[c]
			if !known {
				i = uint8(small.Palette.Index(c))
				nearest[c] = i
			}
			small.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// palette is the 256 most frequent shades of a picture, of those that are alike the most frequent
// one.
func palette(of image.Image) color.Palette {
	count := map[color.RGBA]int{}
	for y := of.Bounds().Min.Y; y < of.Bounds().Max.Y; y++ {
		for x := of.Bounds().Min.X; x < of.Bounds().Max.X; x++ {
			if c, ok := color.RGBAModel.Convert(of.At(x, y)).(color.RGBA); ok {
				count[c]++
			}
		}
	}
	shades := make([]color.RGBA, 0, len(count))
	for c := range count {
		shades = append(shades, c)
	}
	slices.SortFunc(shades, func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	const alike = 4
	var out color.Palette
	taken := map[color.RGBA]bool{}
	for _, c := range shades {
		bucket := color.RGBA{c.R / alike, c.G / alike, c.B / alike, 0}
		if taken[bucket] && count[c] < 500 {
			continue
		}
		taken[bucket] = true
		if out = append(out, c); len(out) == 256 {
			break
		}
	}
	return out
}

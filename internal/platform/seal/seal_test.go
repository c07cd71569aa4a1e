package seal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/internal/platform/seal"
)

// key returns 32 bytes whose encoding has both characters that differ between the two alphabets.
func key(seed byte) []byte {
	sum := sha256.Sum256([]byte{seed})
	sum[0], sum[1], sum[2] = 0xfb, 0xef, 0xff // "++//"
	return sum[:]
}

func encoded(seed byte) string { return base64.StdEncoding.EncodeToString(key(seed)) }

func newRing(t testing.TB, current byte, old ...byte) *seal.Ring {
	t.Helper()
	var list []string
	for _, seed := range old {
		list = append(list, encoded(seed))
	}
	r, err := seal.NewRing(encoded(current), list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func place(row string) seal.Place {
	return seal.Place{Table: "connections", Column: "credentials", Row: row}
}

func mustSeal(t testing.TB, r *seal.Ring, at seal.Place, plaintext string) []byte {
	t.Helper()
	sealed, err := r.Seal(at, []byte(plaintext))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestNewRingKeys(t *testing.T) {
	t.Parallel()
	want := newRing(t, 1).Current()
	for _, encoding := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		r, err := seal.NewRing(" " + encoding.EncodeToString(key(1)) + "\n")
		if err != nil || r.Current() != want {
			t.Errorf("%v, %v", r.Current(), err)
		}
	}
	if sum := sha256.Sum256(key(1)); want != fmt.Sprintf("%x", sum)[:8] {
		t.Errorf("key id %s", want)
	}

	for _, bad := range []string{
		"", "=", "correct horse battery staple", encoded(1) + encoded(2), encoded(1)[:40],
		base64.StdEncoding.EncodeToString(key(1)[:31]), base64.StdEncoding.EncodeToString(append(key(1), 0)),
		strings.Repeat("a", 64), "\x00", strings.Repeat("é", 22),
	} {
		_, errCurrent := seal.NewRing(bad)
		_, errOld := seal.NewRing(encoded(1), encoded(2), bad)
		for _, err := range []error{errCurrent, errOld} {
			if err == nil {
				t.Errorf("%q was taken as a key", bad)
				continue
			}
			if len(bad) > 1 && strings.Contains(err.Error(), bad) { // "" and "=" are in any text
				t.Errorf("the error repeats the key: %v", err)
			}
			if !strings.Contains(err.Error(), "base64 of 32 bytes") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		}
	}
}

func TestRoundTripProperty(t *testing.T) {
	t.Parallel()
	r := newRing(t, 1)
	word := rapid.StringN(1, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		at := seal.Place{Table: word.Draw(t, "table"), Column: word.Draw(t, "column"), Row: word.Draw(t, "row")}
		plaintext := rapid.SliceOf(rapid.Byte()).Draw(t, "plaintext")
		sealed, err := r.Seal(at, plaintext)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Open(at, sealed)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Fatalf("opened %q, %v", got, err)
		}
		if again, _ := r.Seal(at, plaintext); bytes.Equal(again, sealed) {
			t.Fatal("sealed twice, got the same bytes")
		}
		if len(plaintext) > 8 && bytes.Contains(sealed, plaintext) {
			t.Fatal("the plaintext shows")
		}
	})
}

func TestMovedRecordsDoNotOpen(t *testing.T) {
	t.Parallel()
	r := newRing(t, 1)
	const n = 1000
	sealed := make([][]byte, n)
	for i := range sealed {
		sealed[i] = mustSeal(t, r, place(fmt.Sprint(i)), "access-token")
		if _, err := r.Open(place(fmt.Sprint(i)), sealed[i]); err != nil {
			t.Fatalf("control: row %d does not open at home: %v", i, err)
		}
	}
	for i := range sealed {
		home := place(fmt.Sprint(i))
		for _, away := range []seal.Place{
			place(fmt.Sprint((i + 1) % n)),
			{Table: home.Table, Column: "refresh_token", Row: home.Row},
			{Table: "settings", Column: home.Column, Row: home.Row},
			{Table: home.Table + "c", Column: home.Column[1:], Row: home.Row}, // the same letters, divided at another place
			{Table: home.Table, Column: home.Column + home.Row, Row: ""},
			{},
		} {
			if _, err := r.Open(away, sealed[i]); !errors.Is(err, seal.ErrTampered) {
				t.Fatalf("sealed for %v, opened at %v: %v", home, away, err)
			}
			if _, err := r.Rewrap(away, sealed[i]); !errors.Is(err, seal.ErrTampered) {
				t.Fatalf("sealed for %v, rewrapped at %v: %v", home, away, err)
			}
		}
	}
}

// TestPartsDoNotMix joins the wrapped key of one secret and the ciphertext of another, both sealed
// for the same place.
func TestPartsDoNotMix(t *testing.T) {
	t.Parallel()
	r := newRing(t, 1)
	a, b := mustSeal(t, r, place("1"), "old token"), mustSeal(t, r, place("1"), "new token")
	const head = 65
	if _, err := r.Open(place("1"), append(bytes.Clone(a[:head]), b[head:]...)); !errors.Is(err, seal.ErrTampered) {
		t.Error(err)
	}
}

func TestEveryFlippedByteFails(t *testing.T) {
	t.Parallel()
	r := newRing(t, 1, 2)
	sealed := mustSeal(t, r, place("1"), "access-token")
	for i := range sealed {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			broken := bytes.Clone(sealed)
			broken[i] ^= flip
			if got, err := r.Open(place("1"), broken); err == nil || got != nil {
				t.Errorf("byte %d ^ %#x still opens", i, flip)
			}
		}
		if _, err := r.Open(place("1"), sealed[:i]); !errors.Is(err, seal.ErrTampered) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if _, err := r.Open(place("1"), append(sealed, 0)); !errors.Is(err, seal.ErrTampered) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	before, during, after := newRing(t, 1), newRing(t, 2, 1), newRing(t, 2)
	sealed := mustSeal(t, before, place("1"), "access-token")

	if before.Stale(sealed) || !during.Stale(sealed) || !after.Stale(sealed) {
		t.Error("Stale does not follow the current key")
	}
	if got, err := during.Open(place("1"), sealed); err != nil || string(got) != "access-token" {
		t.Errorf("reading during a rotation: %q, %v", got, err)
	}
	_, err := after.Open(place("1"), sealed)
	if !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), before.Current()) {
		t.Errorf("after it without a rewrap: %v", err)
	}

	rewrapped, err := during.Rewrap(place("1"), sealed)
	if err != nil {
		t.Fatal(err)
	}
	if during.Stale(rewrapped) || len(rewrapped) != len(sealed) || !bytes.Equal(rewrapped[65:], sealed[65:]) {
		t.Error("Rewrap must change the head and nothing else")
	}
	if got, err := after.Open(place("1"), rewrapped); err != nil || string(got) != "access-token" {
		t.Errorf("after it: %q, %v", got, err)
	}
	if _, err := before.Open(place("1"), rewrapped); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("the old key alone: %v", err)
	}
	if after.Stale(rewrapped) {
		t.Errorf("it is not wrapped with the key %s", after.Current())
	}
	if same := newRing(t, 2, 2); same.Stale(rewrapped) {
		t.Error("naming the current key among the old ones must do no harm")
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	sealed := mustSeal(t, newRing(t, 1), place("1"), "x")
	for _, r := range []*seal.Ring{nil, {}} {
		_, errSeal := r.Seal(place("1"), nil)
		_, errOpen := r.Open(place("1"), sealed)
		_, errRewrap := r.Rewrap(place("1"), sealed)
		for _, err := range []error{errSeal, errOpen, errRewrap} {
			if !errors.Is(err, seal.ErrNoKey) {
				t.Errorf("got %v", err)
			}
		}
		if r.Current() != "" || !r.Stale(sealed) {
			t.Error("a ring without a key has a current key")
		}
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	r := newRing(t, 1)
	for _, at := range []seal.Place{{}, {Table: "a", Column: "b"}, {Table: "a", Row: "c"}, {Column: "b", Row: "c"}} {
		if _, err := r.Seal(at, nil); !errors.Is(err, seal.ErrPlace) {
			t.Errorf("%v: %v", at, err)
		}
	}
	for _, junk := range [][]byte{nil, {}, {1}, bytes.Repeat([]byte{1}, 92), bytes.Repeat([]byte{2}, 200)} {
		if _, err := r.Open(place("1"), junk); !errors.Is(err, seal.ErrTampered) || !r.Stale(junk) {
			t.Errorf("%v: %v", junk, err)
		}
	}
}

// TestPrintingARingShowsNoKey searches the output for the key, as bytes and as the numbers of a
// cipher's key schedule.
func TestPrintingARingShowsNoKey(t *testing.T) {
	t.Parallel()
	shows := func(out string) bool {
		for word := range slices.Chunk(key(1), 4) {
			big, little := binary.BigEndian.Uint32(word), binary.LittleEndian.Uint32(word)
			for _, form := range []string{"%d", "%x"} {
				for _, value := range []any{word, big, little} {
					if strings.Contains(out, strings.Trim(fmt.Sprintf(form, value), "[]")) {
						return true
					}
				}
			}
		}
		return false
	}
	r := newRing(t, 1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		for _, value := range []any{
			r, *r,
			struct{ r *seal.Ring }{r},
			struct{ r seal.Ring }{*r},
			&struct{ R *seal.Ring }{r},
		} {
			if out := fmt.Sprintf(verb, value); shows(out) {
				t.Errorf("%s: %s", verb, out)
			}
		}
	}
	if !shows(fmt.Sprintf("%v", key(1))) || !shows(fmt.Sprintf("%x", key(1))) {
		t.Error("control: the check does not see a key that is there")
	}
}

func FuzzOpen(f *testing.F) {
	r := newRing(f, 1, 2)
	sealed := mustSeal(f, r, place("1"), "access-token")
	f.Add(sealed)
	f.Add(sealed[:65])
	f.Add([]byte{})
	f.Add(mustSeal(f, newRing(f, 3), place("1"), ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := r.Open(place("1"), data)
		if err == nil && string(got) != "access-token" {
			t.Errorf("forged %q", got)
		}
		r.Stale(data)
		if _, errRewrap := r.Rewrap(place("1"), data); err == nil && errRewrap != nil {
			t.Error(errRewrap)
		}
	})
}

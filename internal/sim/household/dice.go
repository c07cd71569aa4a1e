package household

import "math/rand/v2"

// Dice are a stream of chance that is the same on every machine. Draws multiply and shift instead
// of going through rand.Rand, whose bounded draws promise no fixed sequence across word sizes and
// releases; PCG itself does.
type dice struct{ pcg rand.PCG }

func newDice(seed, stream uint64) *dice {
	d := new(dice)
	d.pcg.Seed(seed, stream)
	return d
}

// below draws from [0, n), for n below 2^32.
func (d *dice) below(n int) int { return int(d.pcg.Uint64() >> 32 * uint64(n) >> 32) }

// between draws from [low, high].
func (d *dice) between(low, high int) int { return low + d.below(high-low+1) }

// chance is true permille times in a thousand.
func (d *dice) chance(permille int) bool { return d.below(1000) < permille }

// small draws from [0, n), the more often the smaller.
func (d *dice) small(n int) int { return d.below(d.below(n) + 1) }

// weighted draws an index by running sums of weights.
func (d *dice) weighted(sums []int) int {
	x := d.below(sums[len(sums)-1])
	low, high := 0, len(sums)-1
	for low < high {
		middle := (low + high) / 2
		if sums[middle] > x {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

const (
	digits = "0123456789"
	upper  = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ" // as references have it, without I and O
	base32 = "0123456789abcdefghijklmnopqrstuv"   // as Teller's ids
	base62 = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdefghijklmnopqrstuvwxyz"
)

// letters appends n characters of an alphabet of at most 64.
func (d *dice) letters(out []byte, alphabet string, n int) []byte {
	var bits uint64
	for i := range n {
		if i%4 == 0 {
			bits = d.pcg.Uint64()
		}
		out = append(out, alphabet[bits&0xffff*uint64(len(alphabet))>>16])
		bits >>= 16
	}
	return out
}

func (d *dice) id(prefix, alphabet string, n int) string {
	var room [48]byte
	return string(d.letters(append(room[:0], prefix...), alphabet, n))
}

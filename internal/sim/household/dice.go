package household

import "math/rand/v2"

// A dice is a random stream that is the same on every machine. It computes draws from PCG itself,
// because only PCG's sequence is fixed. The bounded draws of rand.Rand may differ between word
// sizes and releases.
type dice struct{ pcg rand.PCG }

func newDice(seed, stream uint64) *dice {
	d := new(dice)
	d.pcg.Seed(seed, stream)
	return d
}

// below returns a random number in [0, n), for n below 2^32.
func (d *dice) below(n int) int { return int(d.pcg.Uint64() >> 32 * uint64(n) >> 32) }

// between returns a random number in [low, high].
func (d *dice) between(low, high int) int { return low + d.below(high-low+1) }

// chance returns true with a probability of permille in a thousand.
func (d *dice) chance(permille int) bool { return d.below(1000) < permille }

// small returns a random number in [0, n); smaller numbers are more likely.
func (d *dice) small(n int) int { return d.below(d.below(n) + 1) }

// weighted returns a random index. sums are the running sums of the weights.
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
	upper  = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ" // as in references, without I and O
	base32 = "0123456789abcdefghijklmnopqrstuv"   // as in Teller's ids
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

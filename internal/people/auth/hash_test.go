package auth

import "testing"

// BenchmarkHash is how long one sign-in occupies a core; 80 to 250 ms are wanted.
func BenchmarkHash(b *testing.B) {
	h := newHasher()
	for b.Loop() {
		if _, err := h.hash(b.Context(), "a sentence of Kim's own"); err != nil {
			b.Fatal(err)
		}
	}
}

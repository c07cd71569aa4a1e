package auth

import "testing"

// BenchmarkHash measures how long one sign-in uses a core. The target is 80 to 250 ms.
func BenchmarkHash(b *testing.B) {
	h := newHasher()
	for b.Loop() {
		if _, err := h.hash(b.Context(), "a sentence of Kim's own"); err != nil {
			b.Fatal(err)
		}
	}
}

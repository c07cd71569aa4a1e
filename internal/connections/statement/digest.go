package statement

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest stands for an account's number where files are remembered, so that the number itself is
// not stored. It begins with the kind of the number.
func digest(kind, number string) string {
	sum := sha256.Sum256([]byte(number))
	return kind + ":" + hex.EncodeToString(sum[:12])
}

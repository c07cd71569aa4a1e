package statement

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest returns a hash of an account's number, so that the number itself is not stored with the
// connection. It begins with the kind of the number.
func digest(kind, number string) string {
	sum := sha256.Sum256([]byte(number))
	return kind + ":" + hex.EncodeToString(sum[:12])
}

package seal_test

import (
	"fmt"

	"coffer/internal/platform/seal"
)

func Example() {
	ring, err := seal.NewRing("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		fmt.Println(err)
		return
	}
	token := seal.NewSecret("access-sandbox-123")
	home := seal.Place{Table: "connections", Column: "credentials", Row: "1"}

	sealed, _ := ring.Seal(home, []byte(token.Reveal()))
	opened, _ := ring.Open(home, sealed)
	fmt.Println(token, string(opened) == token.Reveal())

	elsewhere := seal.Place{Table: "connections", Column: "credentials", Row: "2"}
	_, err = ring.Open(elsewhere, sealed)
	fmt.Println(err)
	// Output:
	// [secret] true
	// the sealed value is damaged or belongs to another row or column
}

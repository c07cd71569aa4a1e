// Command coffer keeps a household's financial data and serves it to people and agents.
// What its commands are, and everything else, is app's.
package main

import (
	"os"

	"coffer/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

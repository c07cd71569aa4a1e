// Command coffer keeps a household's financial data and serves it to people and agents. Package app
// contains its commands and everything else.
package main

import (
	"os"

	"coffer/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Command release creates everything in a release except the program: manual pages, completions,
// lists of components and the container image. It uses the program's own command line and build
// information, so none of it is written by hand.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"coffer/internal/app"
	"github.com/spf13/cobra"
)

func main() {
	if err := command().Execute(); err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{Use: "release", SilenceUsage: true}
	root.AddCommand(
		&cobra.Command{
			Use: "man DIRECTORY", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return writeManual(coffer(), args[0]) },
		},
		&cobra.Command{
			Use: "completions DIRECTORY", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return writeCompletions(coffer(), args[0]) },
		},
		&cobra.Command{
			Use: "sbom PROGRAM WEB-SBOM OUT", Args: cobra.ExactArgs(3),
			RunE: func(_ *cobra.Command, args []string) error { return writeComponents(args[0], args[1], args[2]) },
		},
		imageCommand(), pushCommand(), packageCommand(),
	)
	return root
}

// coffer returns the program's command line.
func coffer() *cobra.Command {
	return app.CommandLine(app.Config{}, strings.NewReader(""), io.Discard, io.Discard).Root()
}

// inform prints what was created.
func inform(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// writeManual writes a manual page for every command. The pages have the date of the sources, so
// the same sources give the same pages.
func writeManual(root *cobra.Command, directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	day := time.Unix(0, 0).UTC()
	return doc.GenManTree(root, &doc.GenManHeader{
		Title: "COFFER", Section: "1", Date: &day, Source: "coffer", Manual: "coffer",
	}, directory)
}

// writeCompletions writes completion scripts for shells.
func writeCompletions(root *cobra.Command, directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(string) error{
		"coffer.bash": func(p string) error { return root.GenBashCompletionFileV2(p, true) },
		"coffer.zsh":  root.GenZshCompletionFile,
		"coffer.fish": func(p string) error { return root.GenFishCompletionFile(p, true) },
		"coffer.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(directory, name)); err != nil {
			return err
		}
	}
	return nil
}

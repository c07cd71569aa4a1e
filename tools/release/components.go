package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
)

// A component is one entry of a CycloneDX document, with the fields that this program writes.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
}

// writeComponents writes the components of a program as CycloneDX: the modules in the program's
// build information, the Go release, and the packages of the web app that npm listed.
func writeComponents(program, web, out string) error {
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	listed, err := os.ReadFile(web)
	if err != nil {
		return err
	}
	var app struct {
		Components []json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(listed, &app); err != nil {
		return fmt.Errorf("%s: %w", web, err)
	}
	all := []any{component{"platform", "go", built.GoVersion, "pkg:golang/stdlib@" + built.GoVersion}}
	for _, m := range built.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
	}
	for _, c := range app.Components {
		all = append(all, c)
	}
	if len(app.Components) == 0 || len(built.Deps) == 0 {
		return fmt.Errorf("%s has %d modules and %s %d packages: one of them is not what it should be",
			program, len(built.Deps), web, len(app.Components))
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": component{Type: "application", Name: "coffer"}},
		"components": all,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644) //nolint:gosec // it is published
}

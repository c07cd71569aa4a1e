package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the packager for Debian
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// A packing is the part of .goreleaser.yaml that a Debian package needs.
type packing struct {
	Nfpms []struct {
		PackageName string `yaml:"package_name"`
		Vendor      string
		Maintainer  string
		Description string
		License     string
		Section     string
		Recommends  []string
		Suggests    []string
		Contents    []struct{ Src, Dst, Packager string }
		Scripts     struct{ Postinstall, Preremove, Postremove string }
	}
}

// packageCommand builds only the Debian package of a program, in seconds. goreleaser builds all
// packages, from the same configuration and with the same library, but takes 20 minutes to compile.
func packageCommand() *cobra.Command {
	var program, version, architecture, out string
	c := &cobra.Command{
		Use: "package", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := os.Create(out) //nolint:gosec // the caller's own
			if err != nil {
				return err
			}
			return errors.Join(writePackage(f, program, version, architecture), f.Close())
		},
	}
	f := c.Flags()
	f.StringVar(&program, "program", "", "the program")
	f.StringVar(&version, "version", "", "its version, such as 0.1.0")
	f.StringVar(&architecture, "arch", "amd64", "its architecture")
	f.StringVar(&out, "out", "", "the file to write")
	return c
}

// writePackage writes a Debian package. It must run in the root of the repository, after .release
// has been filled.
func writePackage(w io.Writer, program, version, architecture string) error {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return err
	}
	var p packing
	if err := yaml.Unmarshal(text, &p); err != nil {
		return fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	n := p.Nfpms[0]
	info := &nfpm.Info{
		Name: n.PackageName, Arch: architecture, Platform: "linux", Version: version, Section: n.Section,
		Vendor: n.Vendor, Maintainer: n.Maintainer, Description: n.Description, License: n.License,
		MTime: time.Unix(0, 0).UTC(),
		Overridables: nfpm.Overridables{
			Recommends: n.Recommends, Suggests: n.Suggests, Umask: 0o022,
			Scripts: nfpm.Scripts{
				PostInstall: n.Scripts.Postinstall, PreRemove: n.Scripts.Preremove, PostRemove: n.Scripts.Postremove,
			},
			Contents: files.Contents{{
				Source: program, Destination: "/usr/bin/coffer", FileInfo: &files.ContentFileInfo{Mode: 0o755},
			}},
		},
	}
	for _, f := range n.Contents {
		info.Contents = append(info.Contents, &files.Content{
			Source: strings.TrimSuffix(f.Src, "/"), Destination: f.Dst, Packager: f.Packager,
		})
	}
	if err := nfpm.PrepareForPackager(nfpm.WithDefaults(info), "deb"); err != nil {
		return err
	}
	deb, err := nfpm.Get("deb")
	if err != nil {
		return err
	}
	return deb.Package(info, w)
}

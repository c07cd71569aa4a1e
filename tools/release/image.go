package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"
)

// An image describes the published container image. It is the same image as the Dockerfile's, but
// built without a daemon from programs that exist already.
type image struct {
	programs     map[string]string // paths by architecture
	certificates string
	zones        string
	version      string // v1.2.3, or the output of git describe
	commit       string
	source       string // address of the sources; may be empty
	made         time.Time
}

func imageCommand() *cobra.Command {
	var i image
	var made int64
	var out string
	c := &cobra.Command{
		Use: "image", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			i.made = time.Unix(made, 0).UTC()
			index, err := i.index()
			if err != nil {
				return err
			}
			_, err = layout.Write(out, index)
			return err
		},
	}
	f := c.Flags()
	f.StringToStringVar(&i.programs, "program", nil, "ARCHITECTURE=FILE, for each")
	f.StringVar(&i.certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "certificate roots")
	f.StringVar(&i.zones, "zones", "", "zoneinfo.zip of the Go release")
	f.StringVar(&i.version, "version", "", "version of the program")
	f.StringVar(&i.commit, "commit", "", "commit of the sources")
	f.StringVar(&i.source, "source", "", "address of the sources")
	f.Int64Var(&made, "made", 0, "time of the commit, in seconds")
	f.StringVar(&out, "out", "", "directory for an OCI layout")
	return c
}

// pushCommand pushes an image that exists already.
func pushCommand() *cobra.Command {
	var from, version, to string
	c := &cobra.Command{
		Use: "push", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			index, err := layout.ImageIndexFromPath(from)
			if err != nil {
				return err
			}
			return push(index, to, tags(version))
		},
	}
	f := c.Flags()
	f.StringVar(&from, "layout", "", "directory of the OCI layout")
	f.StringVar(&version, "version", "", "version, which decides the tags")
	f.StringVar(&to, "to", "", "repository, without a tag")
	return c
}

// index returns one image for each architecture under one name.
func (i image) index() (v1.ImageIndex, error) {
	if len(i.programs) == 0 {
		return nil, errors.New("pass --program")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range []string{"amd64", "arm64"} {
		program, ok := i.programs[architecture]
		if !ok {
			continue
		}
		img, err := i.of(architecture, program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	labelled, ok := mutate.Annotations(index, i.labels()).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("the index is no index")
	}
	return labelled, nil
}

// of returns the image for one architecture. It has one layer, so that the same files give the same
// digest.
func (i image) of(architecture, program string) (v1.Image, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for _, f := range []struct {
		to, from string
		mode     int64
	}{
		{"coffer", program, 0o755},
		{"etc/ssl/certs/ca-certificates.crt", i.certificates, 0o644},
		{"zoneinfo.zip", i.zones, 0o644},
	} {
		content, err := os.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		h := &tar.Header{Name: f.to, Mode: f.mode, Size: int64(len(content)), ModTime: i.made, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	// Volumes are mounted here, for backups and for the certificate authority of --lan. New volumes
	// get the owner of these directories.
	for _, name := range []string{"backups/", "data/"} {
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeDir, Name: name, Mode: 0o700, Uid: user, Gid: user, ModTime: i.made,
			Format: tar.FormatUSTAR,
		}); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.AppendLayers(img, layer)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, i.config(architecture, img))
}

const user = 65532

func (i image) config(architecture string, img v1.Image) *v1.ConfigFile {
	c, err := img.ConfigFile()
	if err != nil {
		panic(err) // this code has just written it, so it is valid
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Created = "linux", architecture, v1.Time{Time: i.made}
	for n := range c.History {
		c.History[n] = v1.History{Created: v1.Time{Time: i.made}, CreatedBy: "coffer " + i.version}
	}
	c.Config = v1.Config{
		Entrypoint: []string{"/coffer"}, Cmd: []string{"serve"},
		Env:          []string{"PATH=/", "ZONEINFO=/zoneinfo.zip"},
		User:         fmt.Sprintf("%d:%d", user, user),
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM", Labels: i.labels(),
		// The OCI format does not define this field, but Docker uses it.
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/coffer", "health"}, Interval: 10 * time.Second, Timeout: 3 * time.Second,
			StartPeriod: 30 * time.Second,
		},
	}
	return c
}

func (i image) labels() map[string]string {
	l := map[string]string{
		"org.opencontainers.image.title":       "coffer",
		"org.opencontainers.image.description": "Self-hosted household finances",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     i.version,
		"org.opencontainers.image.revision":    i.commit,
		"org.opencontainers.image.created":     i.made.Format(time.RFC3339),
	}
	if i.source != "" {
		l["org.opencontainers.image.source"] = i.source
	}
	return l
}

var released = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)$`)

// tags returns the names of an image of this version: X.Y.Z, X.Y, X and latest for a release. Any
// other version gets only its own name, so that nobody gets a release candidate by accident.
func tags(version string) []string {
	m := released.FindStringSubmatch(version)
	if m == nil {
		return []string{regexp.MustCompile(`[^\w.-]`).ReplaceAllString(strings.TrimPrefix(version, "v"), "-")}
	}
	return []string{m[1] + "." + m[2] + "." + m[3], m[1] + "." + m[2], m[1], "latest"}
}

func push(index v1.ImageIndex, repository string, names []string) error {
	at, err := name.NewRepository(repository)
	if err != nil {
		return err
	}
	auth := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if err := remote.WriteIndex(at.Tag(names[0]), index, auth); err != nil {
		return err
	}
	for _, t := range names[1:] {
		if err := remote.Tag(at.Tag(t), index, auth); err != nil {
			return err
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	inform("pushed %s", strings.Join(names, ", "))
	fmt.Println(at.Name() + "@" + digest.String()) // the name to sign
	return nil
}

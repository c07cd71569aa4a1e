// Package packaging tests what a release installs and what a forge runs: units, package scripts,
// the files of goreleaser and Compose, and CI workflows. It must not need a container or a network;
// .ci/try-package uses both.
package packaging

import (
	"encoding/base64"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/app"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parse[T any](t *testing.T, name string) T {
	t.Helper()
	var v T
	if err := yaml.Unmarshal([]byte(read(t, name)), &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing at %s: %v", pattern, err)
	}
	return found
}

var iniFence = regexp.MustCompile("(?ms)^ *```ini\n(.*?)^ *```") //nolint:gocritic // with m, ^ begins any line

// TestUnitsInDocuments: a unit that a page shows equals one that packages install.
func TestUnitsInDocuments(t *testing.T) {
	t.Parallel()
	units := map[string]bool{}
	for _, f := range glob(t, "packaging/systemd/*") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		units[string(b)] = true
	}
	shown := 0
	for _, page := range glob(t, "docs/running/*.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range iniFence.FindAllStringSubmatch(string(b), -1) {
			if !strings.Contains(m[1], "[Unit]") {
				continue // a drop-in that people add
			}
			shown++
			if !units[m[1]] {
				t.Errorf("%s shows a unit that is not in packaging/systemd:\n%s", page, m[1])
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a unit")
	}
}

func run(t *testing.T, program string, args ...string) (said string, err error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err
}

var exposure = regexp.MustCompile(`exposure level for \S+: ([\d.]+)`)

// TestUnits: systemd finds no mistake in the units, and their services expose little to attackers.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT CHECKED: systemd-analyze is not installed, so nothing here looked for mistakes in the units or " +
			"at how exposed their services are; install systemd, or look at a run of CI, whose machines have it")
	}
	dir := t.TempDir()
	place := filepath.Join(dir, "etc", "systemd", "system")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	var services, files []string
	for _, f := range glob(t, "packaging/systemd/*") {
		name := strings.Replace(filepath.Base(f), "@.", "@smith.", 1)
		// The program need not be installed on this machine.
		text := strings.ReplaceAll(read(t, "packaging/systemd/"+filepath.Base(f)), "/usr/bin/coffer", "/bin/sh")
		path := filepath.Join(place, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
		if strings.HasSuffix(name, ".service") {
			services = append(services, name)
		}
	}
	said, err := run(t, analyze, append([]string{"verify", "--man=no"}, files...)...)
	for line := range strings.Lines(said) {
		if strings.Contains(line, dir) { // other messages are about units of this machine
			t.Error(line)
		}
	}
	if err != nil && strings.Contains(said, dir) {
		t.Error(err)
	}
	for _, s := range services {
		out, err := run(t, analyze, "security", "--no-pager", "--offline=true", "--root="+dir, s)
		m := exposure.FindStringSubmatch(out)
		if m == nil {
			if strings.Contains(out, "unrecognized option") {
				t.Skip("NOT CHECKED: this systemd-analyze is older than 250 and cannot rate units that don't run")
			}
			t.Errorf("%s: %v\n%s", s, err, out)
			continue
		}
		if level, err := strconv.ParseFloat(m[1], 64); err != nil || level > 1.5 {
			t.Errorf("%s is exposed at %s, more than 1.5", s, m[1])
		}
	}
}

// TestPostinstall: the first installation creates settings with new secrets, which nobody else can
// read. Later installations do not change them.
func TestPostinstall(t *testing.T) {
	t.Parallel()
	install := func(dir string) string {
		c := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(root, "packaging", "postinstall.sh"), "configure")
		c.Env = append(os.Environ(), "COFFER_ROOT="+dir)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "etc", "coffer", "env"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	dir := t.TempDir()
	first := install(dir)
	for path, want := range map[string]os.FileMode{"etc/coffer": 0o700 | os.ModeDir, "etc/coffer/env": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	value := func(text, name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s", name)
		}
		return m[1]
	}
	if key, err := base64.StdEncoding.DecodeString(value(first, "COFFER_ENCRYPTION_KEY")); err != nil || len(key) != 32 {
		t.Errorf("key of %d bytes, %v", len(key), err)
	}
	if len(value(first, "COFFER_BACKUP_PASSPHRASE")) != 40 {
		t.Error("the passphrase is not what it should be")
	}
	// Without a backup, there would be no way back after a new version migrates. The folder must be
	// in the unit's own directory.
	if dir := value(first, "COFFER_BACKUP_DIR"); dir != "/var/lib/coffer/backups" ||
		!strings.Contains(read(t, "packaging/systemd/coffer.service"), "\nStateDirectory=coffer\n") {
		t.Errorf("backups go to %s", dir)
	}
	// Only one of the server and the timer may make backups every night.
	if !strings.Contains(read(t, "packaging/systemd/coffer-backup.service"), `ExecCondition=/bin/sh -c '[ -z "$COFFER_BACKUP_DIR" ]'`) {
		t.Error("the timer makes backups although the server does")
	}
	if second := install(t.TempDir()); value(second, "COFFER_ENCRYPTION_KEY") == value(first, "COFFER_ENCRYPTION_KEY") {
		t.Error("two installations have the same key")
	}
	const changed = "COFFER_LISTEN=127.0.0.1:1\n"
	if err := os.WriteFile(filepath.Join(dir, "etc", "coffer", "env"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := install(dir); got != changed {
		t.Errorf("an upgrade wrote the settings:\n%s", got)
	}
	settings(t, "packaging/postinstall.sh", first)
}

var variable = regexp.MustCompile(`COFFER_[A-Z_]+[A-Z]`)

// settings checks that variables are settings of the program.
func settings(t *testing.T, name, text string, more ...string) {
	t.Helper()
	var known []string
	for _, s := range app.Settings() {
		known = append(known, s.Name)
	}
	for _, v := range variable.FindAllString(text, -1) {
		if !slices.Contains(append(known, more...), strings.TrimSuffix(v, "_FILE")) {
			t.Errorf("%s: %s is not a setting", name, v)
		}
	}
}

type releaser struct {
	Builds []struct {
		Flags, Ldflags, Env, Targets []string
	}
	Nfpms []struct {
		Formats  []string
		Contents []struct{ Src, Dst, Type string }
		Scripts  map[string]string
	}
}

// TestRelease: a release is built in the same way as `make build`. Its packages contain existing
// files, and no settings.
func TestRelease(t *testing.T) {
	t.Parallel()
	c := parse[releaser](t, ".goreleaser.yaml")
	b := c.Builds[0]
	ldflags := strings.NewReplacer("{{ .Env.VERSION }}", "$(VERSION)", "{{ .Env.COMMIT }}", "$(COMMIT)").
		Replace(b.Ldflags[0])
	makefile := read(t, "Makefile")
	for _, want := range []string{
		`-ldflags "` + ldflags + `"`, strings.Join(b.Env, " "), `GOFLAGS="` + strings.Join(b.Flags, " ") + `"`,
	} {
		if !strings.Contains(makefile, want) {
			t.Errorf("make build has no %s", want)
		}
	}
	for _, want := range []string{
		"linux_amd64", "linux_arm64", "linux_arm_7", "darwin_arm64", "windows_amd64", "freebsd_amd64",
	} {
		if !slices.Contains(b.Targets, want) {
			t.Errorf("no program for %s", want)
		}
	}
	n := c.Nfpms[0]
	if strings.Join(n.Formats, " ") != "deb rpm apk" {
		t.Errorf("packages: %v", n.Formats)
	}
	installed := map[string]bool{}
	for _, f := range n.Contents {
		installed[f.Src] = true
		if strings.HasPrefix(f.Dst, "/etc/") || strings.HasPrefix(f.Type, "config") {
			t.Errorf("%s: settings belong to no package", f.Dst)
		}
		if !strings.HasPrefix(f.Src, ".release/") {
			if _, err := os.Stat(filepath.Join(root, f.Src)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, f := range glob(t, "packaging/systemd/*") {
		if !installed["packaging/systemd/"+filepath.Base(f)] {
			t.Errorf("no package has %s", filepath.Base(f))
		}
	}
	for _, s := range n.Scripts {
		info, err := os.Stat(filepath.Join(root, s))
		if err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: %v", s, err)
		}
	}
}

type compose struct {
	Services map[string]struct {
		Image, User string
		Build       any
		Environment map[string]string
		Secrets     []string
		Ports       []string
		Volumes     []string
		Command     []string
		ReadOnly    bool `yaml:"read_only"`
	}
	Secrets map[string]struct{ File string }
}

// TestCompose: the Compose file uses published images, reads secrets from the files that `make
// secrets` creates, and names only existing settings.
func TestCompose(t *testing.T) {
	t.Parallel()
	c := parse[compose](t, "compose.yaml")
	makefile := read(t, "Makefile")
	for name, s := range c.Services {
		if s.Build != nil || s.Image == "" || !s.ReadOnly {
			t.Errorf("%s is built here, or may write to its image", name)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s publishes %s to everyone", name, p)
			}
		}
		for v, value := range s.Environment {
			secret := regexp.MustCompile(`PASSWORD|PASSPHRASE|_KEY|DATABASE_URL`).MatchString(v)
			if file, ok := strings.CutPrefix(value, "/run/secrets/"); secret != ok || ok && !slices.Contains(s.Secrets, file) {
				t.Errorf("%s: %s is %s", name, v, value)
			}
		}
	}
	if !regexp.MustCompile(`^postgres:\d+\.\d+$`).MatchString(c.Services["db"].Image) {
		t.Errorf("%s is not one version", c.Services["db"].Image)
	}
	for name, s := range c.Secrets {
		if s.File != "./secrets/"+name || !strings.Contains(makefile, "> "+name) {
			t.Errorf("%s: %s, or make secrets does not make it", name, s.File)
		}
	}
	if parse[compose](t, "compose.build.yaml").Services["coffer"].Build == nil {
		t.Error("compose.build.yaml builds nothing")
	}
	used := variable.FindAllString(read(t, "compose.yaml")+read(t, "compose.lan.yaml"), -1)
	for _, v := range variable.FindAllString(read(t, ".env.example"), -1) {
		if !slices.Contains(used, v) {
			t.Errorf(".env.example: no Compose file reads %s", v)
		}
	}
	for _, name := range []string{"compose.yaml", "compose.lan.yaml"} {
		settings(t, name, read(t, name), "COFFER_IMAGE", "COFFER_VERSION", "COFFER_PORT")
	}
	db, at := c.Services["db"], "db:/var/lib/postgresql/data"
	if !regexp.MustCompile(`^postgres:1[5-7]\.`).MatchString(db.Image) { // from 18 on, the image refuses this mount
		at = "db:/var/lib/postgresql"
	}
	if !slices.Equal(db.Volumes, []string{at}) {
		t.Errorf("%s keeps nothing in %v", db.Image, db.Volumes)
	}
	if recipe := read(t, "docs/running/upgrade.md"); !strings.Contains(recipe, "- db18:/var/lib/postgresql\n") {
		t.Error("the way to PostgreSQL 18 mounts its volume elsewhere")
	}
	if c.Services["coffer"].Environment["COFFER_ALLOW_HTTP"] != "${COFFER_ALLOW_HTTP:-false}" {
		t.Error("COFFER_ALLOW_HTTP does not reach the server")
	}
}

// TestComposeForHomeNetwork: on the home network, the settings of compose.yaml do not prevent --lan
// from starting. Files that the server writes are in a volume that belongs to the image's user.
func TestComposeForHomeNetwork(t *testing.T) {
	t.Parallel()
	home := parse[compose](t, "compose.lan.yaml").Services["coffer"]
	environment := maps.Clone(parse[compose](t, "compose.yaml").Services["coffer"].Environment)
	maps.Copy(environment, home.Environment)
	if url, ok := environment["COFFER_PUBLIC_URL"]; !ok || url != "" || environment["COFFER_TLS_CERT"] != "" {
		t.Errorf("--lan refuses COFFER_PUBLIC_URL, which is %q", url)
	}
	if environment["COFFER_LAN_ADDRESS"] == "" { // coffer health uses the variable too
		t.Error("the container does not know the address")
	}
	if !slices.Equal(home.Command, []string{"serve", "--lan", "--lan-dir", "/data"}) ||
		!slices.Equal(home.Volumes, []string{"data:/data"}) ||
		!slices.Equal(home.Ports, []string{"${COFFER_LAN_ADDRESS}:8443:8443"}) {
		t.Errorf("%+v", home)
	}
	dockerfile := read(t, "Dockerfile")
	for _, dir := range []string{"backups", "data"} {
		if !strings.Contains(dockerfile, "COPY --from=build --chown=65532:65532 --chmod=700 /out/"+dir+" /"+dir+"\n") {
			t.Errorf("/%s of the image does not belong to its user", dir)
		}
	}
}

// TestReleaseNamesNoHiddenFile: GitHub renames assets that begin with a dot. The checksums and
// guides would then name files that do not exist.
func TestReleaseNamesNoHiddenFile(t *testing.T) {
	t.Parallel()
	hidden := regexp.MustCompile(`dist/\.\w|-name "?\.\w|sha256sum \.\w`)
	for _, script := range []string{".ci/release", ".ci/publish"} {
		text := read(t, script)
		if m := hidden.FindString(text); m != "" || !strings.Contains(text, "dist/env.example") {
			t.Errorf("%s: %q, or no env.example", script, m)
		}
	}
	if guide := read(t, "docs/running/install.md"); strings.Contains(guide, "`.env.example`") ||
		!strings.Contains(guide, "cp env.example .env") {
		t.Error("the guide names another file than the release has")
	}
}

// TestVerifyRelease: the guide's commands verify checksums as .ci/release signs them with
// ssh-keygen, and as .ci/publish signs them with cosign.
func TestVerifyRelease(t *testing.T) {
	t.Parallel()
	guide := read(t, "docs/running/install.md")
	for _, flag := range []string{"--new-bundle-format", "SHA256SUMS.sigstore.json"} {
		if !strings.Contains(guide, flag) || !strings.Contains(read(t, ".ci/publish"), flag) {
			t.Errorf("the guide or .ci/publish lacks %s", flag)
		}
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("NOT CHECKED: ssh-keygen is not installed")
	}
	sign := regexp.MustCompile(`ssh-keygen -q -Y sign .*`).FindString(read(t, ".ci/release"))
	verify := regexp.MustCompile(`ssh-keygen -Y verify .*`).FindString(guide)
	script := `ssh-keygen -q -t ed25519 -N '' -f key; mkdir dist; echo sums > dist/SHA256SUMS; SIGN_KEY=key
` + sign + `
cd dist; echo "release $(cat ../key.pub)" > signers
` + verify + `
echo changed > SHA256SUMS
! ` + verify
	c := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", script)
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil || strings.Count(string(out), "Good ") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

type workflow struct {
	Jobs map[string]struct {
		Steps []struct{ Run string }
	}
}

// TestWorkflows: CI workflows contain no logic. Each step is a target of the Makefile or a script
// of .ci, so everything that they run can run anywhere.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	makefile, steps := read(t, "Makefile"), 0
	for _, f := range glob(t, ".github/workflows/*.yml") {
		name := ".github/workflows/" + filepath.Base(f)
		for job, j := range parse[workflow](t, name).Jobs {
			for _, s := range j.Steps {
				if s.Run == "" {
					continue
				}
				steps++
				words := strings.Fields(s.Run)
				if words[0] != "make" {
					info, err := os.Stat(filepath.Join(root, words[0]))
					if !strings.HasPrefix(words[0], ".ci/") || err != nil || info.Mode()&0o100 == 0 {
						t.Errorf("%s, %s: %s is neither make nor a script of .ci", name, job, words[0])
					}
					continue
				}
				for _, target := range words[1:] {
					variable, _, set := strings.Cut(target, "=")
					switch {
					case set && !strings.Contains(makefile, "$("+variable+")"):
						t.Errorf("%s, %s: make reads no variable %s", name, job, variable)
					case !set && !strings.Contains(makefile, "\n"+target+":"):
						t.Errorf("%s, %s: make has no target %s", name, job, target)
					}
				}
			}
		}
	}
	if steps < 6 {
		t.Errorf("only %d steps were read", steps)
	}
	for _, f := range slices.Concat(glob(t, ".github/ISSUE_TEMPLATE/*.yml"), glob(t, ".devcontainer/*.yaml")) {
		parse[map[string]any](t, strings.TrimPrefix(f, root+"/"))
	}
}

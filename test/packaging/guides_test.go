package packaging

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg/pgtest"
)

var (
	shellFence = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```") //nolint:gocritic // with m, ^ begins any line
	quoted     = regexp.MustCompile("`([^`]+)`")
)

// commands returns the commands that a page shows, each as one line.
func commands(t *testing.T, page string) (list []string) {
	t.Helper()
	for _, m := range shellFence.FindAllStringSubmatch(read(t, page), -1) {
		text, end := strings.ReplaceAll(m[1], "\\\n", " "), ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case end != "": // what a command reads
				if line == end {
					end = ""
				}
				continue
			case strings.Contains(line, "<<"):
				_, end, _ = strings.Cut(line, "<<")
			}
			list = append(list, strings.Join(strings.Fields(line), " "))
		}
	}
	return list
}

// played are commands of the guide to backups that TestBackupGuide runs.
var played = []string{
	"COFFER_BACKUP_PASSPHRASE='four words nobody guesses' coffer backup /backups/coffer-$(date +%F).age",
	"coffer backup verify /var/lib/coffer/backups/coffer-20261118T020000Z.age",
	"COFFER_BACKUP_PASSPHRASE='four words nobody guesses' coffer restore /backups/coffer-2026-11-15.age",
	"coffer doctor",
	"coffer key forget",
	"coffer key forget --old-key-is-lost",
	`pg_dump -Fc -f coffer.dump "$COFFER_DATABASE_URL"`,
	"createdb coffer_restored",
	"pg_restore --no-owner -d coffer_restored coffer.dump",
	"COFFER_DATABASE_URL=postgres://…/coffer_restored coffer doctor",
}

// Each command of the pages for those who run a server is run by a test, or the table of what is
// tested says why not.
func TestEveryCommandIsAccountedFor(t *testing.T) {
	t.Parallel()
	const table = "docs/running/tested.md"
	rows := map[string]bool{} // page and fragment of a command, and whether it was needed
	for line := range strings.Lines(read(t, table)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "](") {
			continue
		}
		page := "docs/running/" + regexp.MustCompile(`\]\((\w[\w-]*\.md)`).FindStringSubmatch(cells[1])[1]
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			rows[page+" "+strings.ReplaceAll(m[1], "\x00", "|")] = false
		}
		for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[3], -1) {
			if _, err := run(t, "grep", "-rq", "--include=*_test.go", "^func "+m[1]+"(", root+"/internal", root+"/test"); err != nil {
				t.Errorf("there is no %s: %v", m[1], err)
			}
		}
	}
	for _, file := range glob(t, "docs/running/*.md") {
		page := strings.TrimPrefix(file, root+"/")
		shown := commands(t, page)
		for _, c := range shown {
			known := page == "docs/running/backup.md" && slices.Contains(played, c)
			for row := range rows {
				at, fragment, _ := strings.Cut(row, " ")
				if at == page && strings.Contains(c, fragment) {
					rows[row], known = true, true
				}
			}
			if !known {
				t.Errorf("%s shows a command that is not in %s: %s", page, table, c)
			}
		}
	}
	for row, needed := range rows {
		if !needed {
			t.Errorf("%s lists a command that its page does not show: %s", table, row)
		}
	}
}

// The commands of the guide to backups do what it says, as they are printed but for the names of
// files and databases.
func TestBackupGuide(t *testing.T) {
	t.Parallel()
	shown := commands(t, "docs/running/backup.md")
	for _, c := range played {
		if !slices.Contains(shown, c) {
			t.Fatalf("the guide does not show: %s", c)
		}
	}
	dir, program, from := t.TempDir(), apptest.Program(t), pgtest.URL(t)
	if err := os.Symlink(program, filepath.Join(dir, "coffer")); err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	restored := "coffer_restored_" + strings.ToLower(id.Base62(8))
	copied := *server
	copied.Path = "/" + restored
	environment := append(plain(), "PATH="+dir+":"+os.Getenv("PATH"), "PGHOST="+server.Hostname(),
		"PGPORT="+server.Port(), "PGUSER="+server.User.Username())
	t.Cleanup(func() {
		c := exec.Command("dropdb", "--if-exists", "--force", restored)
		c.Env = environment
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	places := strings.NewReplacer("/backups/coffer-$(date +%F).age", dir+"/made.age",
		"/backups/coffer-2026-11-15.age", dir+"/made.age",
		"/var/lib/coffer/backups/coffer-20261118T020000Z.age", dir+"/made.age",
		"postgres://…/coffer_restored", copied.String(), "coffer_restored", restored)
	const key, other = "COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"COFFER_ENCRYPTION_KEY=ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
	play := func(database, key, command, says string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", places.Replace(command))
		c.Dir = dir
		c.Env = slices.Concat(environment, []string{
			"COFFER_DATABASE_URL=" + database, key, "COFFER_BACKUP_PASSPHRASE=four words nobody guesses",
		})
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	empty := pgtest.EmptyURL(t)
	play(from, key, "coffer setup --name Kim --email kim@example.com <<<'correct horse battery'", "")
	play(from, key, played[0], "written and verified")
	play(from, key, played[1], "restored on trial, every row is the same")
	play(empty, key, played[2], "restored: ")
	play(empty, key, played[3], "ok: coffer is ready")
	play(empty, other, played[4], "")
	play(empty, other, played[5], "")
	play(empty, other, played[3], "ok: coffer is ready")
	for _, c := range played[6:9] {
		play(from, key, c, "")
	}
	play("", key, played[9], "ok: coffer is ready")
}

package app

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvFile checks that a file means the same as for systemd. The cases are those of
// systemd.exec(5), EnvironmentFile.
func TestEnvFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"A=one\nB=two":                         {"A": "one", "B": "two"},
		"A=p$HOME#x\n":                         {"A": "p$HOME#x"},
		"# A=1\n; B=2\n\nno assignment\nC=3\n": {"C": "3"},
		"A = b c  \n":                          {"A": "b c"},
		`A="two words"` + "\n":                 {"A": "two words"},
		`A='it is $5 \n'`:                      {"A": `it is $5 \n`},
		`A="a \"quote\" \$x \n"`:               {"A": `a "quote" $x \n`},
		`A=it\'s`:                              {"A": "it's"},
		`A=5"inch"`:                            {"A": `5"inch"`},
		`A='a'"b"c`:                            {"A": "abc"},
		"A=one \\\n two\nB=3":                  {"A": "one  two", "B": "3"},
		"A=\"one\ntwo\"\nB=3":                  {"A": "one\ntwo", "B": "3"},
		"A=\nB=x":                              {"A": "", "B": "x"},
		"A=1\r\nB=2\r\n":                       {"A": "1", "B": "2"},
		"A=x\\ \n":                             {"A": "x "},
		"A=a=b":                                {"A": "a=b"},
		"A='never closed\nB=1":                 {"A": "never closed\nB=1"},
		"":                                     {},
	} {
		if got := parseEnvFile(text); !maps.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestEnvFileFlag(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--env-file /etc/coffer/env serve": "/etc/coffer/env", "setup --env-file=x": "x", "serve": "",
		"tag list -- --env-file x": "", "serve --env-file": "",
	} {
		if got := envFile(strings.Fields(line)); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestSettingsFromFiles: a secret can be in a file instead of the environment, but not in both.
func TestSettingsFromFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range filed() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv(name, "")
			t.Setenv(name+"_FILE", file)
			got, err := environ()
			if err != nil || got[name] != "from a file" {
				t.Errorf("%q, %v", got[name], err)
			}
			t.Setenv(name, "both")
			if _, err := Load(); err == nil || !strings.Contains(err.Error(), "both set") {
				t.Error(err)
			}
			t.Setenv(name, "")
			t.Setenv(name+"_FILE", "a secret by mistake")
			if _, err := Load(); err == nil || strings.Contains(err.Error(), "by mistake") {
				t.Error(err)
			}
		})
	}
	if len(filed()) < 8 {
		t.Errorf("only %q may stand in files", filed())
	}
}

// The environment wins over the file.
func TestUseEnvFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("COFFER_LISTEN=127.0.0.1:1\nCOFFER_LOG_FORMAT=json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COFFER_LISTEN", "127.0.0.1:2")
	t.Setenv("COFFER_LOG_FORMAT", "") // the test restores the old value at its end
	if err := os.Unsetenv("COFFER_LOG_FORMAT"); err != nil {
		t.Fatal(err)
	}
	if err := useEnvFile(file); err != nil {
		t.Fatal(err)
	}
	c, err := Load()
	if err != nil || c.Listen != "127.0.0.1:2" || c.LogFormat != "json" {
		t.Errorf("%s %s %v", c.Listen, c.LogFormat, err)
	}
	if err := useEnvFile(file + " is not there"); err == nil {
		t.Error("a file that is not there was read")
	}
}

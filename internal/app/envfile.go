package app

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/seal"
)

// envFileFlag names a file of settings. It is read before all other arguments, so it can be
// anywhere among them.
const envFileFlag = "--env-file"

// envFile returns the file that the arguments name, or "".
func envFile(args []string) string {
	for i, a := range args {
		switch {
		case a == "--":
			return ""
		case a == envFileFlag && i+1 < len(args):
			return args[i+1]
		case strings.HasPrefix(a, envFileFlag+"="):
			return strings.TrimPrefix(a, envFileFlag+"=")
		}
	}
	return ""
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// useEnvFile sets the variables of the file, except those that the environment already has.
func useEnvFile(path string) error {
	content, err := os.ReadFile(path) //nolint:gosec // the person at the keyboard names a file of theirs
	if err != nil {
		return errs.New(errs.ValidationError, "cannot read the settings: %v", err)
	}
	for name, value := range parseEnvFile(string(content)) {
		if _, set := os.LookupEnv(name); set || !variable.MatchString(name) {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return errs.New(errs.ValidationError, "%s in %s can't be set: %v", name, path, err)
		}
	}
	return nil
}

// parseEnvFile reads assignments as systemd reads an EnvironmentFile, so that one file serves both:
// no expansion of $, quotes only at the beginning of a value, and a backslash that takes the next
// character as it is.
func parseEnvFile(text string) map[string]string {
	p := envParser{text: strings.ReplaceAll(text, "\r\n", "\n"), out: map[string]string{}}
	for p.at < len(p.text) {
		p.assignment()
	}
	return p.out
}

// An envParser reads the assignments of a file.
type envParser struct {
	text string
	at   int
	out  map[string]string
}

func (p *envParser) next() (c byte, ok bool) {
	if p.at == len(p.text) {
		return 0, false
	}
	p.at++
	return p.text[p.at-1], true
}

const blanks = " \t\r"

func (p *envParser) assignment() {
	rest := p.text[p.at:]
	rest = strings.TrimLeft(rest, blanks+"\n")
	p.at = len(p.text) - len(rest)
	line, _, _ := strings.Cut(rest, "\n")
	key, _, assigned := strings.Cut(line, "=")
	if rest == "" {
		return
	}
	if rest[0] == '#' || rest[0] == ';' || !assigned {
		p.at += len(line)
		return
	}
	p.at += len(key) + 1
	p.out[strings.TrimRight(key, blanks)] = p.value()
}

// value reads the value up to the end of the line. Quoted parts come first and are joined.
func (p *envParser) value() string {
	var quoted strings.Builder
	for {
		c, ok := p.next()
		switch {
		case !ok || c == '\n':
			return quoted.String()
		case strings.IndexByte(blanks, c) >= 0:
		case c == '\'':
			p.single(&quoted)
		case c == '"':
			p.double(&quoted)
		default:
			p.at--
			return quoted.String() + p.bare()
		}
	}
}

func (p *envParser) single(b *strings.Builder) {
	for c, ok := p.next(); ok && c != '\''; c, ok = p.next() {
		b.WriteByte(c)
	}
}

// double reads up to the closing quote. A backslash stays as it is, unless it ends the line or
// comes before one of the four characters that a shell would escape.
func (p *envParser) double(b *strings.Builder) {
	for c, ok := p.next(); ok && c != '"'; c, ok = p.next() {
		if c == '\\' {
			if c, ok = p.next(); !ok || c == '\n' {
				continue
			}
			if strings.IndexByte("\"\\`$", c) < 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
}

// bare reads a value without quotes. Blanks at its end are not part of it, unless a backslash
// stands before them.
func (p *envParser) bare() string {
	var b strings.Builder
	end := 0
	for c, ok := p.next(); ok && c != '\n'; c, ok = p.next() {
		if c == '\\' {
			if c, ok = p.next(); ok && c != '\n' {
				b.WriteByte(c)
			}
			end = b.Len()
			continue
		}
		b.WriteByte(c)
		if strings.IndexByte(blanks, c) < 0 {
			end = b.Len()
		}
	}
	return b.String()[:end]
}

// filed are the settings whose value a file may hold: secrets, and the database's address.
func filed() []string {
	var out []string
	for f := range reflect.TypeFor[Config]().Fields() {
		if f.Type == reflect.TypeFor[seal.Secret]() || f.Name == "EncryptionKeysOld" {
			out = append(out, prefix+f.Tag.Get("env"))
		}
	}
	for _, s := range all.Specs {
		for _, f := range s.Fields {
			if f.Secret() && !f.PEM { // a PEM setting names a file already
				out = append(out, prefix+s.Variable(f))
			}
		}
	}
	return out
}

// fileSuffix is what the name of a setting ends with that names a file instead.
const fileSuffix = "_FILE"

// environ returns the environment, with the contents of the files that settings name.
func environ() (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		out[name] = value
	}
	for _, name := range filed() {
		path := out[name+fileSuffix]
		if path == "" {
			continue
		}
		if out[name] != "" {
			return nil, errs.New(errs.ValidationError, "%[1]s and %[1]s%[2]s are both set; unset one of them", name,
				fileSuffix)
		}
		content, err := os.ReadFile(path) //nolint:gosec // a file that the operator names in a setting
		if err != nil {
			if p, ok := errors.AsType[*fs.PathError](err); ok {
				err = p.Err // without the path: someone may have put the secret itself there
			}
			return nil, errs.New(errs.ValidationError, "%s%s must name a file that coffer can read: %v", name,
				fileSuffix, err)
		}
		out[name] = strings.TrimRight(string(content), "\r\n")
	}
	return out, nil
}

// fileSettings lists the settings that name files.
func fileSettings(list []Setting) []Setting {
	names := filed()
	for _, s := range slices.Clone(list) {
		if slices.Contains(names, s.Name) {
			list = append(list, Setting{s.Name + fileSuffix, "", "file that contains " + s.Name})
		}
	}
	return list
}

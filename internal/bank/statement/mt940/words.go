package mt940

import "strings"

// words are the contents of a :86: field.
type words struct{ name, text, reference, kind string }

// lineLength is the full length of a line. After a shorter line, joining adds a space.
const lineLength = 65

// read chooses the variant of a :86: by its beginning.
func read(lines []string) words {
	if len(lines) == 0 {
		return words{}
	}
	switch all := strings.Join(lines, ""); {
	case len(all) > 4 && digits(all[:3]) && (all[3] == '?' || all[3] == '>'):
		return german(all[4:], all[3])
	case strings.HasPrefix(all, "/") && codeAt(all) != "":
		return coded(all)
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 && len(lines[i-1]) < lineLength {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return words{text: b.String()}
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// purposes are the markers of the parts of a German purpose.
var purposes = set("EREF KREF MREF CRED DEBT SVWZ ABWA ABWE IBAN BIC COAM OAMT")

func set(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// german reads the subfields ?20 to ?63. They are pieces of 27 characters, so they are joined
// without spaces. SVWZ marks the text; without such markers everything is the text.
func german(s string, mark byte) (w words) {
	parts := map[string]*strings.Builder{"": {}}
	part := ""
	for _, f := range subfields(s, mark) {
		code, value := f[:2], f[2:]
		switch {
		case code == "00":
			w.kind += value
		case code >= "20" && code <= "29", code >= "60" && code <= "63":
			if word, rest, ok := strings.Cut(value, "+"); ok && purposes[word] {
				if part, value = word, rest; parts[part] == nil {
					parts[part] = &strings.Builder{}
				}
			}
			parts[part].WriteString(value)
		case code == "32" || code == "33":
			w.name += value
		}
	}
	textOf := func(word string) string {
		if b := parts[word]; b != nil {
			return b.String()
		}
		return ""
	}
	if w.text = textOf("SVWZ"); w.text == "" {
		w.text = textOf("")
	}
	w.reference = textOf("EREF")
	return w
}

// subfields splits s at each mark that is followed by two digits. Each part begins with the digits.
func subfields(s string, mark byte) (out []string) {
	start := -1
	s = string(mark) + s // the first one follows the type, and its mark was cut off
	for i := 0; i+2 < len(s); i++ {
		if s[i] != mark || !digits(s[i+1:i+3]) {
			continue
		}
		if start >= 0 {
			out = append(out, s[start:i])
		}
		start = i + 1
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// codes are the markers of the parts of a Dutch :86:, between slashes.
var codes = set("EREF PREF MARF CSID CNTP REMI BENM ORDP UCRD UDTR NAME IBAN BIC TRTP TRCD PURP RTRN ISDT SVCL " +
	"IREF PBNK ADDR BUSP SUM ULTD ULTC KREF OAMT COAM")

// codeAt returns the code that s begins with, between slashes.
func codeAt(s string) string {
	end := strings.IndexByte(s[1:], '/') + 1
	if end > 0 && codes[s[1:end]] {
		return s[1:end]
	}
	return ""
}

// coded reads /EREF/…//CNTP/iban/bic/name/city///REMI/USTD//…/ and similar variants.
func coded(s string) (w words) {
	for code := codeAt(s); code != ""; {
		s = s[len(code)+2:]
		value, next := s, ""
		for i := range len(s) {
			if s[i] == '/' && codeAt(s[i:]) != "" {
				value, next = s[:i], s[i:]
				break
			}
		}
		w.code(code, value)
		if s, code = next, ""; s != "" {
			code = codeAt(s)
		}
	}
	return w
}

func (w *words) code(code, value string) {
	plain := strings.Trim(value, "/ ")
	switch code {
	case "EREF":
		w.reference = plain
	case "CNTP":
		if parts := strings.Split(value, "/"); len(parts) > 2 {
			w.name = parts[2]
		}
	case "NAME":
		w.name = plain
	case "TRTP":
		w.kind = plain
	case "REMI":
		for _, kind := range []string{"USTD//", "STRD/CUR/", "STRD/ISO/"} {
			plain = strings.TrimPrefix(plain, kind)
		}
		w.text = plain
	}
}

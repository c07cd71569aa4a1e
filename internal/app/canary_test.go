package app_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg/pgtest"
)

// mark is part of every made-up secret. It is valid as letters and digits, hexadecimal and base64,
// and nothing else contains it by chance.
const mark = "dec0de5ec4e7"

// A canary is a made-up secret that must never appear in any output.
type canary struct{ kind, value string }

func marked(form string) string { return fmt.Sprintf(form, mark) }

// canaries returns secrets of every kind, in the format of real ones.
func canaries() []canary {
	fill := func(prefix string, n int) string { return prefix + mark + id.Base62(n-len(mark)) }
	uuid := func(prefix string) string { return prefix + "0199f2f0-8d5a-7c1e-9b3a-" + mark }
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256"}`)) + "." + fill("eyJ", 60) + "." + fill("", 86)
	list := []canary{
		{"API key", fill("coffer_", 43)},
		{"API key, cut short", fill("coffer_", 20)},
		{"API key with a blank", fill("coffer_", 43) + " "},
		{"API key in capitals", strings.ToUpper(fill("coffer_", 43))},
		{"API key of another service", fill("sk_live_", 32)},
		{"session", fill("", 43)},
		{"session, cut short", fill("", 20)},
		{"session as JSON", `{"session":"` + fill("", 43) + `"}`},
		{"OAuth code", fill("code_", 43)},
		{"OAuth access token", fill("oat_", 43)},
		{"OAuth refresh token", fill("ort_", 43)},
		{"OAuth client secret", fill("", 64)},
		{"OAuth state", fill("state-", 32)},
		{"PKCE verifier", fill("", 64)},
		{"device code", fill("", 43)},
		{"setup ticket", fill("", 43)},
		{"passkey assertion", base64.RawURLEncoding.EncodeToString([]byte(fill("", 40))) + mark},
		{"OIDC id token", jwt},
		{"OIDC nonce", fill("n-", 32)},
		{"Plaid access token", uuid("access-sandbox-")},
		{"Plaid access token, production", uuid("access-production-")},
		{"Plaid public token", uuid("public-sandbox-")},
		{"Plaid link token", uuid("link-sandbox-")},
		{"Plaid processor token", uuid("processor-sandbox-")},
		{"Plaid client id", mark + "0123456789ab"},
		{"Plaid secret", mark + "0123456789abcdef01"},
		{"Plaid webhook signature", jwt + "A"},
		{"Teller access token", fill("token_", 26)},
		{"Teller test token", fill("test_token_", 20)},
		{"Teller enrolment", fill("enr_", 20)},
		{"Teller nonce", fill("", 22)},
		{"Teller webhook signature", "t=1700000000,v1=" + strings.Repeat(mark, 5) + "abcd"},
		{"Teller signing secret", fill("", 43)},
		{"certificate key", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w" + mark +
			"\n-----END PRIVATE KEY-----\n"},
		{"encryption key", fill("", 43) + "="},
		{"old encryption key", fill("A", 42) + "="},
		{"database password", fill("pw", 24)},
		{"database URL", marked("postgres://coffer:%s@127.0.0.1:5432/coffer")},
		{"backup passphrase", "correct horse " + mark + " staple"},
		{"password", "Tr0ub4dor&" + mark},
		{"password with quotes", `pass"word'` + mark + `\`},
		{"password in another script", "пароль-" + mark},
		{"password, too short", mark[:7]},
		{"link session", fill("", 43)},
		{"export link", fill("", 43)},
		{"idempotency key", fill("idem-", 32)},
		{"webhook secret", fill("whsec_", 32)},
		{"cursor", fill("eyJ", 60)},
		{"basic credentials", "Basic " + base64.StdEncoding.EncodeToString([]byte("me:")) + mark},
		{"bearer token", "Bearer " + fill("", 43)},
		{"one-time code", fill("otp-", 20)},
		{"SimpleFIN setup token", base64.StdEncoding.EncodeToString(
			[]byte("https://bridge.simplefin.org/simplefin/claim/"+fill("", 24))) + mark},
		{"SimpleFIN access URL", marked("https://5a3d:%s@bridge.simplefin.org/simplefin")},
		{"Enable Banking private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA" + mark +
			"\n-----END RSA PRIVATE KEY-----\n"},
		{"Enable Banking token", jwt + "B"},
		{"Enable Banking code", fill("", 36)},
		{"Enable Banking session", uuid("")},
		{"Enable Banking account", uuid("")},
	}
	// Some formats have no room for the whole mark, so their text could appear by chance. Leave
	// them out.
	return slices.DeleteFunc(list, func(c canary) bool { return !strings.Contains(strings.ToLower(c.value), mark) })
}

// A canaryWatch looks for secrets.
type canaryWatch struct {
	mu     sync.Mutex
	exact  []string // secrets that the service created itself
	looked int
}

// find returns where a secret begins in the text, or -1.
func (w *canaryWatch) find(text string) int {
	lower := strings.ToLower(text)
	for _, form := range []string{
		mark, hex.EncodeToString([]byte(mark)),
		base64.RawStdEncoding.EncodeToString([]byte(mark)),
	} {
		if i := strings.Index(lower, strings.ToLower(form)); i >= 0 {
			return i
		}
	}
	for _, secret := range w.exact {
		core := secret[len(secret)-16:] // half of a secret must not appear either
		for _, form := range []string{core, secret[:min(len(secret), 23)], hex.EncodeToString([]byte(core))} {
			if i := strings.Index(text, form); i >= 0 {
				return i
			}
		}
	}
	return -1
}

func (w *canaryWatch) clean(t testing.TB, where, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked++
	if i := w.find(text); i >= 0 {
		t.Errorf("%s has a secret: …%s…", where, text[max(0, i-200):min(len(text), i+100)])
	}
}

var (
	idempotencyRows = regexp.MustCompile(`(?s)COPY public\.idempotency .*?\n\\\.\n`)
	// The sign-in address repeats the address that the browser asked for, to return there later.
	ownAddress = regexp.MustCompile(`/login\?next=[^"\]\s]*`)
)

// answer checks the headers and the body of a response for secrets.
func (w *canaryWatch) answer(t testing.TB, what string, r reply) {
	t.Helper()
	w.clean(t, fmt.Sprintf("the answer to %s (%d)", what, r.status),
		ownAddress.ReplaceAllString(r.body+"\n"+fmt.Sprint(r.header), ""))
}

// everything searches the log, the metrics and a dump of the whole database.
func (w *canaryWatch) everything(t *testing.T, in *toolWorld) {
	t.Helper()
	log := in.log.String()
	if len(log) < 1000 {
		t.Errorf("control: the log has %d bytes", len(log))
	}
	w.clean(t, "the log", log)
	w.metrics(t, in)
	dump := string(pgtest.Dump(t, in.Config.DatabaseURL.Reveal()))
	for _, table := range []string{"change", "entry", "job", "sync_log", "idempotency", "token"} {
		if !strings.Contains(dump, "."+table+" (") {
			t.Errorf("control: the dump has no table %s", table)
		}
	}
	// An idempotency key may be stored: the caller chooses it, it is not a secret, and the service
	// looks requests up by it.
	w.clean(t, "the database", idempotencyRows.ReplaceAllString(dump, ""))
}

func (w *canaryWatch) metrics(t *testing.T, in *toolWorld) {
	t.Helper()
	families, err := in.Metrics.Gather()
	if err != nil || len(families) == 0 {
		t.Fatalf("metrics: %d, %v", len(families), err)
	}
	w.clean(t, "the metrics", fmt.Sprint(families))
}

// spent returns credentials that have ended, and credentials without enough rights.
func (w *canaryWatch) spent(t *testing.T, in *toolWorld) (keys, sessions []string) {
	t.Helper()
	for _, c := range in.credentials(t) {
		switch {
		case len(c.key) > 40:
			keys = append(keys, c.key)
		case len(c.session) > 40:
			sessions = append(sessions, c.session)
		}
	}
	w.exact = slices.Concat(w.exact, keys, sessions)
	return keys, sessions
}

// canaryPlaces returns the requests in which a caller can send a secret outside an op's own
// arguments.
func canaryPlaces(c canary, x exchange) []exchange {
	var out []exchange
	header := func(name, value string) {
		y := x
		y.header = map[string]string{name: value}
		if strings.ContainsAny(value, "\n\r") {
			y.header[name] = strings.NewReplacer("\n", "", "\r", "").Replace(value)
		}
		out = append(out, y)
	}
	header("X-Api-Key", c.value)
	header("Authorization", c.value)
	header("Authorization", "Bearer "+c.value)
	header("Cookie", auth.SessionCookie+"="+url.QueryEscape(c.value))
	header("Idempotency-Key", c.value)
	header("If-Match", c.value)
	header("Accept", c.value)
	header("Plaid-Verification", c.value)
	header("Teller-Signature", c.value)
	header("X-Forwarded-For", c.value)
	header("Origin", "https://"+c.value)
	header("Mcp-Session-Id", c.value)
	query := x
	query.path += "?api_key=" + url.QueryEscape(c.value) + "&limit=" + url.QueryEscape(c.value) + "&cursor=" +
		url.QueryEscape(c.value)
	broken, garbage := x, x
	broken.body, broken.kind = `{"name":"`+c.value, "application/json"
	garbage.body, garbage.kind = "access_token="+url.QueryEscape(c.value)+"&code="+url.QueryEscape(c.value)+
		"&device_code="+url.QueryEscape(c.value)+"&token="+url.QueryEscape(c.value), "application/x-www-form-urlencoded"
	return append(out, query, broken, garbage)
}

// TestCanariesInRequests sends secrets in headers, queries, paths and bodies of every route, with
// and without a valid key. No response repeats one, and nothing stores one.
func TestCanariesInRequests(t *testing.T) {
	t.Parallel()
	b, watch := newFormBook(t, 10), &canaryWatch{}
	list := canaries()
	if len(list) < 50 {
		t.Fatalf("only %d canaries", len(list))
	}
	keys, sessions := watch.spent(t, b.toolWorld)
	watch.exact = append(watch.exact, b.key, b.reader)
	var routes []exchange
	for _, o := range b.ops {
		if o.Route != "" {
			routes = append(routes, exchange{method: o.Method, path: "/api/v1" + o.Path})
		}
	}
	for _, r := range b.Raw() {
		method, path, ok := strings.Cut(r.Route, " ")
		if !ok {
			method, path = "POST", r.Route
		}
		routes = append(routes, exchange{method: method, path: path})
	}
	n, tried := 0, 0
	for _, x := range routes {
		for i := range canaryPlaces(list[0], x) {
			c := list[n%len(list)]
			n++
			y := x
			y.path = variable.ReplaceAllString(x.path, url.PathEscape(strings.TrimSpace(c.value)))
			if i%3 == 0 {
				y.path = variable.ReplaceAllString(x.path, "nothing0")
			}
			y = canaryPlaces(c, y)[i]
			if n%2 == 0 && y.header["X-Api-Key"] == "" {
				y.key = b.key
			}
			watch.answer(t, fmt.Sprintf("%s %s with %s in place %d", x.method, x.path, c.kind, i), b.bare(t, y))
			tried++
		}
		for i, secret := range append(slices.Clone(keys), sessions...) {
			if (i+n)%7 > 0 {
				continue
			}
			y := exchange{
				method: x.method, path: variable.ReplaceAllString(x.path, secret), key: secret,
				body: `{"token":"` + secret + `"}`, kind: "application/json",
				header: map[string]string{"Cookie": auth.SessionCookie + "=" + secret},
			}
			watch.answer(t, fmt.Sprintf("%s %s with a spent or small credential", x.method, x.path), b.bare(t, y))
			tried++
		}
	}
	watch.everything(t, b.toolWorld)
	t.Logf("%d canaries and %d credentials of our own, %d routes, %d requests, %d places looked at", len(list),
		len(watch.exact), len(routes), tried, watch.looked)
}

// bare sends a request without a key unless it names one.
func (b *formBook) bare(t *testing.T, x exchange) reply {
	t.Helper()
	header := map[string]string{"X-Api-Key": x.key}
	maps.Copy(header, x.header)
	x.header = header
	return b.serve(t, x).reply
}

// TestCanariesInArguments sends secrets as arguments of every op, by route and by tool. A rejected
// value is neither repeated nor stored, and the log never contains any.
func TestCanariesInArguments(t *testing.T) { //nolint:tparallel // the group waits for its parallel parts
	t.Parallel()
	b, watch, list := newFormBook(t, 200), &canaryWatch{}, canaries()
	var refused []string
	var mu sync.Mutex
	calls := 0
	try := func(t *testing.T, o *op.Op, value string, answer formAnswer) {
		t.Helper()
		mu.Lock()
		calls++
		mu.Unlock()
		if answer.fault.Code == "" && answer.status < 400 {
			// The op accepted the secret as a valid name or comment. Delete such tags, because
			// error messages would suggest them for unknown tags.
			if _, err := b.DB.Exec(t.Context(), `update tag set deleted_at = now()
				where deleted_at is null and slug like '%dec0de%'`); err != nil {
				t.Error(err)
			}
			return
		}
		watch.answer(t, o.ID()+" with "+value, answer.reply)
		mu.Lock()
		refused = append(refused, value)
		mu.Unlock()
	}
	t.Run("ops", func(t *testing.T) {
		for i, o := range b.ops {
			t.Run(o.ID(), func(t *testing.T) {
				t.Parallel()
				for j, p := range formPlaces(o) {
					for _, road := range b.formSurfaces(o) {
						for k := range 2 {
							value := list[(i*7+j*3+k*19)%len(list)].value + id.Base62(12)
							if k == 1 {
								value += strings.Repeat(" ", 10_001) // longer than any limit, so it is refused
							}
							try(t, o, value, road(t, o, p.args(value, b.cast(o).valid(t))))
						}
					}
				}
			})
		}
	})
	watch.clean(t, "the log", b.log.String())
	watch.metrics(t, b.toolWorld)
	dump := string(pgtest.Dump(t, b.Config.DatabaseURL.Reveal()))
	for _, value := range refused {
		tail := strings.TrimSpace(value)
		if strings.Contains(dump, tail[len(tail)-12:]) {
			t.Errorf("the database keeps %q, which was refused", tail)
		}
	}
	t.Logf("%d calls, %d refused", calls, len(refused))
	if len(refused) < 200 || calls-len(refused) < 50 {
		t.Error("control: both must happen")
	}
}

// TestCanariesAreCaught is the control: the search finds a secret in a log line, in an error and in
// a row.
func TestCanariesAreCaught(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	key := w.newKey(t, auth.CreateKey{Name: "seen", Scope: "read_only", ActorType: "user"}).Secret
	watch := &canaryWatch{exact: []string{key}}
	for _, c := range append(canaries(), canary{"a key of ours", key}, canary{"half a key of ours", key[len(key)-16:]},
		canary{"the start of one", key[:25]}) {
		w.log.b.Reset()
		w.Log.Debug("control", "error", errors.New("refused "+c.value).Error())
		if watch.find(w.log.String()) < 0 {
			t.Errorf("a log line with %s (%s) is not noticed", c.kind, c.value)
		}
		if watch.find(errs.New(errs.ValidationError, "%s", c.value).Error()) < 0 {
			t.Errorf("an answer with %s is not noticed", c.kind)
		}
	}
	if _, err := w.DB.Exec(t.Context(), `update member set name = $1`, marked("x %s x")); err != nil {
		t.Fatal(err)
	}
	if watch.find(string(pgtest.Dump(t, w.Config.DatabaseURL.Reveal()))) < 0 {
		t.Error("a row with a secret is not noticed")
	}
	if watch.find("nothing at all, 0199f2f0-8d5a-7c1e-9b3a-000000000000") >= 0 {
		t.Error("an innocent text is taken for a secret")
	}
}

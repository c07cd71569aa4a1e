package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
)

// forPeople repeats the contract: the ops that agents cannot call. Agents can call every other
// writing op.
var forPeople = map[string]string{
	"key.create": "always", "key.update": "always", "key.revoke": "others",
	"user.create": "always", "user.update": "always", "user.delete": "always", "user.erase": "always",
	"user.invite": "always", "user.uninvite": "always",
	"login-method.create": "always", "login-method.update": "always", "login-method.delete": "always",
	"login-method.drop-codes": "always",
	"session.revoke":          "others", "assistant.revoke": "others",
	"setting.update": "always", "agent.update": "always", "model.set": "always", "rate.set": "always", "rate.delete": "always", "model.test": "always", "provider.set": "always",
	"provider.unset": "always", "provider.test": "always",
	"export.create":     "always",
	"connection.create": "fields provider=plaid, provider=teller, provider=simplefin, provider=enablebanking",
	"connection.update": "fields paused, user_id, sync_interval_seconds",
	"connection.delete": "always", "connection.repaired": "always", "quarantine.delete": "always",
	"calendar-link.create": "always", "calendar-link.revoke": "always",
	"account.remove": "always",
	"account.merge":  "always", "account.refresh-balance": "always",
	"view.create": "always", "view.update": "always", "view.delete": "always",
	"workflow.create": "always", "workflow.update": "always", "workflow.delete": "always",
	"workflow.enable": "always", "workflow.disable": "always", "workflow.run": "always", "workflow.eval": "always",
	"workflow-run.cancel": "always", "workflow-run.revert": "always",
	"workflow-run.apply": "always", "workflow-run.drop": "always",
	"endpoint.create": "always", "endpoint.update": "always", "endpoint.delete": "always", "endpoint.test": "always",
	"endpoint.rotate": "always", "notification.resend": "always",
	"prompt-block.create": "always", "prompt-block.update": "always", "prompt-block.delete": "always",
	"job.cancel": "others", "report.delete": "others", "comment.update": "others", "comment.delete": "others",
}

func TestPeopleAreDeclaredAsTheContractSays(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range app.Menu() {
		if got := o.People.String(); got != forPeople[o.ID()] {
			t.Errorf("%s declares %q, and the contract says %q", o.ID(), got, forPeople[o.ID()])
		}
		seen[o.ID()] = true
		if o.People.Strict() != slices.Contains(strictlyForPeople, o.ID()) {
			t.Errorf("%s: no right lifts what is declared: %v, which the contract does not say", o.ID(), o.People.Strict())
		}
	}
	for name := range forPeople {
		if !seen[name] {
			t.Errorf("%s is not an op", name)
		}
	}
}

// strictlyForPeople are the ops that an agent cannot call even with the right to administer.
// Endpoints send data out of the household.
var strictlyForPeople = []string{
	"endpoint.create", "endpoint.update", "endpoint.delete", "endpoint.test", "endpoint.rotate", "notification.resend",
}

// A party is a kind of caller in the matrix of rights.
type party struct {
	credential
	name  string
	bound bool // cannot call ops that only people may call
}

// parties returns an agent, an admin's assistant, an agent with the right to administer, and a
// person.
func (w *world) parties(t *testing.T) []party {
	t.Helper()
	key := func(name, actor string, may ...string) party {
		k := w.newKey(t, auth.CreateKey{Name: name, Scope: "full_access", ActorType: actor, May: may})
		return party{credential{key: k.Secret}, name, actor == op.Agent && may == nil}
	}
	_, session := w.session(t, "admin")
	tokens, _ := w.letIn(t, session, op.Full, w.OAuth.API())
	return []party{
		key("agent", op.Agent),
		{credential{token: tokens.Access}, "assistant", true},
		key("administrator", op.Agent, auth.Administer), key("person", op.User),
	}
}

// TestRights calls every writing op over REST as each party. Whether the call is forbidden must
// follow from the op's declaration and nothing else.
func TestRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	w.Jobs.Add(countKind(nil)) // no worker runs these jobs here
	parties, tried := w.parties(t), 0
	for _, o := range w.Ops() {
		if o.Route == "" || !o.Writes {
			continue
		}
		nothing := variable.ReplaceAllString(o.Path, "nothing0")
		kind := o.People.String()
		for _, p := range parties {
			play := func(path, body string, forbidden bool) {
				t.Helper()
				r := p.send(t, w, o.Method, "/api/v1"+path, body)
				tried++
				if got := r.status == 403; got != forbidden || got && r.code() != string(errs.Forbidden) ||
					r.status >= 500 {
					t.Errorf("%s %s %s by %s: %d %s; forbidden should be %v", o.Method, path, body, p.name, r.status,
						r.body, forbidden)
				}
				if forbidden && (!strings.Contains(r.body, "ask a member") ||
					strings.Contains(r.body, "administer") != (p.key != "" && !o.People.Strict())) {
					t.Errorf("%s %s by %s does not say what to do: %s", o.Method, path, p.name, r.body)
				}
			}
			body := "{}"
			if o.Method == http.MethodDelete {
				body = ""
			}
			switch {
			case kind == "always":
				play(nothing, body, p.bound || p.name == "administrator" && o.People.Strict())
				if o.In.Prop("dry_run") != nil {
					// In a workflow, dry_run is a setting of its runs. It does not make this call a
					// dry run.
					stored := o.Name == "workflow.create" || o.Name == "workflow.update"
					play(nothing, `{"dry_run": true}`, p.bound && stored)
					play(nothing, `{"dry_run": false}`, p.bound)
				}
			case strings.HasPrefix(kind, "fields "):
				play(nothing, "{}", false)
				for f := range strings.SplitSeq(strings.TrimPrefix(kind, "fields "), ", ") {
					name, value, _ := strings.Cut(f, "=")
					given, _ := json.Marshal(map[string]any{name: value})
					play(nothing, string(given), p.bound)
				}
			case kind == "others":
				if o.Method == http.MethodPatch {
					body = `{"content":"mine now"}`
				}
				play(w.othersRecord(t, o.Name), body, p.bound)
			default:
				play(nothing, body, false)
			}
		}
	}
	t.Logf("%d calls", tried)
	if tried < 200 {
		t.Error("too few to show anything")
	}
}

// othersRecord creates a record of another caller, and returns the path at which the op would
// change it.
func (w *world) othersRecord(t *testing.T, name string) string {
	t.Helper()
	made := func(path, body string) string {
		r := w.send(t, exchange{method: "POST", path: "/api/v1" + path, key: w.key, body: body})
		var record struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(r.body), &record); err != nil || r.status != 201 {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		return record.ID
	}
	newest := func(sql string) string {
		found, err := pg.Value[string](t.Context(), w.DB, sql)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	switch name {
	case "key.revoke":
		return "/api-keys/" + made("/api-keys", `{"name":"victim","scope":"full_access"}`)
	case "session.revoke":
		w.session(t, "admin")
		return newest(`select format('/users/%s/sessions/%s', member_id, id) from token where kind = 'session'
			order by id desc limit 1`)
	case "assistant.revoke":
		_, session := w.session(t, "admin")
		w.letIn(t, session, op.Full, w.OAuth.Resource())
		return newest(`select format('/users/%s/assistants/%s', member_id, id) from consent order by id desc limit 1`)
	case "report.delete":
		return "/reports/" + made("/reports", `{"title":"A month","body":"It went well."}`)
	case "comment.update", "comment.delete":
		on := "/transactions/" + newest(`select id::text from transaction order by id limit 1`) + "/comments"
		return on + "/" + made(on, `{"content":"for the car"}`)
	case "job.cancel":
		return "/jobs/" + w.enqueue(t, countWork{To: 1}, job.Options{}).ID.String() + "/cancel"
	}
	t.Fatalf("%s declares others: make a record for it here", name)
	return ""
}

// TestAgentsMayEndWhatIsTheirs: an agent can end its own keys, jobs and other records, but not
// those of others.
func TestAgentsMayEndWhatIsTheirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	w.Jobs.Add(countKind(nil))
	row, err := pg.Value[string](t.Context(), w.DB, `select id::text from transaction order by id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: op.Agent})
	consented, session := w.session(t, "admin")
	tokens, consent := w.letIn(t, session, op.Full, w.OAuth.API())
	token := credential{token: tokens.Access}
	actors := []op.Actor{}
	for _, who := range []func() (op.Actor, error){
		func() (op.Actor, error) { return w.Auth.Key(t.Context(), agent.Secret) },
		func() (op.Actor, error) { return w.Auth.Token(t.Context(), tokens.Access, w.OAuth.API()) },
	} {
		a, err := who()
		if err != nil {
			t.Fatal(err)
		}
		actors = append(actors, a)
	}
	for i, c := range []credential{{key: agent.Secret}, token} {
		made := func(path, body string) string {
			r := c.send(t, w, "POST", "/api/v1"+path, body)
			var record struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal([]byte(r.body), &record); err != nil || r.status != 201 {
				t.Fatalf("%s: %d %s", path, r.status, r.body)
			}
			return path + "/" + record.ID
		}
		var work job.Job
		err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
			work, err = w.Jobs.Enqueue(op.WithActor(t.Context(), actors[i]), tx, "count", countWork{To: 1},
				job.Options{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		comment := made("/transactions/"+row+"/comments", `{"content":"mine"}`)
		for _, x := range [][4]string{
			{"DELETE", made("/reports", `{"title":"Mine","body":"It went well."}`), "", "204"},
			{"PATCH", comment, `{"content":"mine still"}`, "200"},
			{"DELETE", comment, "", "204"},
			{"POST", "/jobs/" + work.ID.String() + "/cancel", "", "200"},
		} {
			if r := c.send(t, w, x[0], "/api/v1"+x[1], x[2]); fmt.Sprint(r.status) != x[3] {
				t.Errorf("%s %s: %d %s", x[0], x[1], r.status, r.body)
			}
		}
	}
	if r := token.send(t, w, "DELETE", fmt.Sprintf("/api/v1/users/%s/assistants/%s", consented.ID, consent),
		""); r.status != 204 {
		t.Errorf("an assistant ends its own access: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{
		method: "DELETE", path: "/api/v1/api-keys/" + agent.ShortID,
		key: agent.Secret,
	}); r.status != 204 {
		t.Errorf("an agent revokes its own key: %d %s", r.status, r.body)
	}
}

// TestTheRightToAdminister: only people can give a key the right to administer. The key shows the
// right, and an agent cannot give it to another key.
func TestTheRightToAdminister(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wish := `{"name":"steward","scope":"full_access","actor_type":"agent","may":["administer"]}`
	_, left := w.session(t, "admin")
	if _, err := w.DB.Exec(t.Context(), `update token set proved_at = now() - interval '1 hour'
		where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
	if r := (credential{session: left}).send(t, w, "POST", "/api/v1/api-keys", wish); r.status != 403 {
		t.Errorf("a session that was left open: %d %s", r.status, r.body)
	}
	if r := (credential{key: w.key}).send(t, w, "POST", "/api/v1/api-keys", wish); r.code() != string(errs.Forbidden) ||
		!strings.Contains(r.body, "sign in") {
		t.Errorf("a person's key, with which nobody proves anything: %d %s", r.status, r.body)
	}
	_, session := w.session(t, "admin")
	r := credential{session: session}.send(t, w, "POST", "/api/v1/api-keys", wish)
	var k auth.NewKey
	if err := json.Unmarshal([]byte(r.body), &k); err != nil || r.status != 201 ||
		!slices.Equal(k.May, []string{auth.Administer}) {
		t.Fatalf("%d %s", r.status, r.body)
	}
	steward := credential{key: k.Secret}
	for _, path := range []string{"/keys/me", "/api-keys", "/api-keys/" + k.ShortID} {
		if r := steward.send(t, w, "GET", "/api/v1"+path, ""); r.status != 200 ||
			!strings.Contains(r.body, `"may":["administer"]`) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := steward.send(t, w, "POST", "/api/v1/api-keys", wish); r.code() != string(errs.Forbidden) {
		t.Errorf("it is passed on: %d %s", r.status, r.body)
	}
	if r := steward.send(t, w, "POST", "/api/v1/api-keys", `{"name":"plain","scope":"read_only"}`); r.status != 201 ||
		!strings.Contains(r.body, `"may":[]`) {
		t.Errorf("a key without it: %d %s", r.status, r.body)
	}
	for body, want := range map[string]int{
		`{"name":"reader","scope":"read_only","actor_type":"agent","may":["administer"]}`: 400,
		`{"name":"more","scope":"full_access","may":["everything"]}`:                      400,
		`{"name":"none","scope":"full_access","may":[]}`:                                  201,
	} {
		if r := (credential{session: session}).send(t, w, "POST", "/api/v1/api-keys", body); r.status != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	// The rights of such a key are limited by the role of the member who created it.
	if _, err := w.DB.Exec(t.Context(), `update member set role = 'member'
		where id = (select member_id from token where id = $1)`, k.ID); err != nil {
		t.Fatal(err)
	}
	if r := steward.send(t, w, "PATCH", "/api/v1/settings",
		`{"household_name":"Mine"}`); r.code() != string(errs.Forbidden) {
		t.Errorf("of someone who is no longer an admin: %d %s", r.status, r.body)
	}
}

// TestWhoCancelsJobs: a job's requester and admins can cancel it. Nobody can cancel the erasure of
// a member.
func TestWhoCancelsJobs(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	w.Jobs.Add(countKind(nil))
	member, session := w.session(t, "member")
	_, other := w.session(t, "member")
	_, admin := w.session(t, "admin")
	own := w.newKey(t, auth.CreateKey{Name: "the member's", Scope: "full_access", ActorType: op.User})
	if _, err := w.DB.Exec(t.Context(), `update token set member_id = $2
		where id = $1`, own.ID, member.ID); err != nil {
		t.Fatal(err)
	}
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: op.Agent})
	signedIn, err := w.Auth.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	byKey, err := w.Auth.Key(t.Context(), own.Secret)
	if err != nil {
		t.Fatal(err)
	}
	service := op.Actor{Type: op.System, Name: "coffer"}
	callers := map[string]credential{
		"the member": {session: session}, "the member's key": {key: own.Secret}, "another member": {session: other},
		"an admin": {session: admin}, "an agent": {key: agent.Secret},
	}
	for _, c := range []struct {
		kind   string
		asker  op.Actor
		caller string
		want   int
	}{
		{"count", signedIn, "the member", 200},
		{"count", signedIn, "the member's key", 200},
		{"count", byKey, "the member", 200},
		{"count", byKey, "the member's key", 200},
		{"count", signedIn, "another member", 403},
		{"count", byKey, "another member", 403},
		{"count", service, "another member", 403},
		{"count", signedIn, "an admin", 200},
		{"count", service, "an admin", 200},
		{"count", signedIn, "an agent", 403},
		{"count", service, "an agent", 403},
		{"archive.erase", signedIn, "the member", 409},
		{"archive.erase", signedIn, "an admin", 409},
		{"archive.erase", signedIn, "an agent", 403},
	} {
		var work job.Job
		err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
			work, err = w.Jobs.Enqueue(op.WithActor(t.Context(), c.asker), tx, c.kind, countWork{To: 1}, job.Options{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := callers[c.caller].send(t, w, "POST", "/api/v1/jobs/"+work.ID.String()+"/cancel",
			""); r.status != c.want {
			t.Errorf("a job of kind %s that %s asked for, cancelled by %s: %d %s, want %d", c.kind, c.asker.Name,
				c.caller, r.status, r.body, c.want)
		}
	}
}

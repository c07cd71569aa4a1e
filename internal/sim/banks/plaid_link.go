package banks

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	linkLife   = 4 * time.Hour
	publicLife = 30 * time.Minute
)

func (p *Plaid) linkCreate(in request) (any, error) {
	if in.ClientName == "" || in.Language == "" || len(in.CountryCodes) == 0 || in.User.ID == "" {
		return nil, coded("MISSING_FIELDS")
	}
	if len(in.ClientName) > 30 || (in.AccessToken == "") != (len(in.Products) > 0) {
		return nil, coded("INVALID_FIELD")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &linkToken{made: time.Now().Add(p.skew), webhook: in.Webhook, hosted: in.Hosted != nil}
	life := linkLife
	if in.AccessToken != "" {
		if l.item = p.items[in.AccessToken]; l.item == nil || l.item.removed {
			return nil, coded("INVALID_ACCESS_TOKEN")
		}
		life = publicLife
	}
	name := "link-sandbox-" + uuid("link", len(p.links))
	p.links[name] = l
	out := map[string]any{
		"link_token": name, "expiration": l.made.Add(life).UTC().Format(time.RFC3339),
		"request_id": "link",
	}
	if l.hosted {
		l.completion = in.Hosted.Completion
		out["hosted_link_url"] = p.url + "/hosted/" + name
	}
	return out, nil
}

// FinishLink simulates a member who completes Link, in the page or hosted. The public token is ""
// in update mode, where the old access token works again.
func (p *Plaid) FinishLink(linkToken string) (publicToken string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[linkToken]
	if l == nil || !l.finished.IsZero() {
		return "", fmt.Errorf("banks: no open link session %s", linkToken)
	}
	l.finished = time.Now().Add(p.skew)
	if l.item != nil {
		l.item.book.Repair()
		return "", nil
	}
	publicToken, _ = p.newItem(l.webhook)
	l.given = append(l.given, publicToken)
	return publicToken, nil
}

// LeaveLink simulates a member who closes Link without sharing anything.
func (p *Plaid) LeaveLink(linkToken string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[linkToken]
	if l == nil || !l.finished.IsZero() {
		return fmt.Errorf("banks: no open link session %s", linkToken)
	}
	l.finished = time.Now().Add(p.skew)
	return nil
}

func (p *Plaid) linkGet(in request) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[in.LinkToken]
	if l == nil {
		return nil, coded("INVALID_LINK_TOKEN")
	}
	sessions := []any{}
	if !l.finished.IsZero() {
		results := []any{}
		for _, name := range l.given {
			accounts := []any{}
			for _, a := range p.public[name].item.book.Accounts() {
				accounts = append(accounts, map[string]any{
					"id": a.ID, "name": a.Name, "mask": orNull(a.Mask),
					"type": a.Type, "subtype": a.Subtype,
				})
			}
			results = append(results, map[string]any{
				"public_token": name, "accounts": accounts,
				"institution": map[string]any{"name": p.public[name].item.book.bank, "institution_id": institution},
			})
		}
		sessions = append(sessions, map[string]any{
			"link_session_id": uuid(in.LinkToken), "started_at": l.made.UTC().Format(time.RFC3339),
			"finished_at": l.finished.UTC().Format(time.RFC3339),
			"events":      []any{}, "exit": nil, "results": map[string]any{"item_add_results": results},
		})
	}
	return map[string]any{
		"link_token": in.LinkToken, "link_sessions": sessions, "created_at": l.made.UTC().Format(time.RFC3339),
		"expiration": l.made.Add(linkLife).UTC().Format(time.RFC3339), "metadata": map[string]any{},
		"request_id": "linkget",
	}, nil
}

func (p *Plaid) exchange(in request) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pub := p.public[in.PublicToken]
	if pub == nil || pub.used || time.Now().Add(p.skew).Sub(pub.made) > publicLife {
		return nil, coded("INVALID_PUBLIC_TOKEN")
	}
	pub.used = true
	return map[string]any{"access_token": pub.item.token, "item_id": pub.item.book.id, "request_id": "exchange"}, nil
}

func (p *Plaid) hostedPage(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	l := p.links[r.PathValue("token")]
	p.mu.Unlock()
	if l == nil || !l.hosted {
		http.NotFound(w, r)
		return
	}
	if !l.finished.IsZero() {
		showPage(w, "closed", "This session has ended")
		return
	}
	showPage(w, "hosted", "Nordbank")
}

func (p *Plaid) hostedDone(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("token")
	end := p.LeaveLink
	if r.FormValue("leave") == "" {
		end = func(name string) error { _, err := p.FinishLink(name); return err }
	}
	if err := end(name); err != nil {
		http.Error(w, "this session has ended", http.StatusGone)
		return
	}
	p.mu.Lock()
	l := p.links[name]
	p.mu.Unlock()
	if to, err := url.Parse(l.completion); err == nil && l.completion != "" {
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return
	}
	showPage(w, "closed", "Done")
}

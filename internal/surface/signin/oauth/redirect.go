package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const (
	maxRedirects = 10
	maxRedirect  = 2000
)

// executable are the schemes that a browser handles itself instead of opening a program.
var executable = []string{
	"javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "ftp", "ws", "wss",
	"view-source", "chrome", "resource", "mailto", "tel", "sms",
}

// redirectable parses an address that a browser may be sent to with a code: an HTTPS address, an
// address on the browser's own computer, or a program that has its own scheme.
func redirectable(text string) (*url.URL, bool) {
	if text == "" || len(text) > maxRedirect || strings.ContainsFunc(text,
		func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"'<>\\^`{|};,", r) }) {
		// Characters outside ASCII must be escaped, and characters that could end a header value
		// are never allowed.
		return nil, false
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.User != nil || strings.Contains(text, "#") {
		return nil, false
	}
	switch u.Scheme {
	case "https":
		return u, u.Hostname() != ""
	case "http":
		return u, loopback(u)
	case "":
		return nil, false
	}
	return u, !slices.Contains(executable, u.Scheme) && (u.Host != "" || u.Path != "")
}

// loopback reports whether an address is on the computer of the person who follows it.
func loopback(u *url.URL) bool {
	if u.Scheme != "http" {
		return false
	}
	name := u.Hostname()
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback() && ip.Zone() == ""
}

// matches reports whether a client may be sent back to an address. The address must be equal to an
// allowed one. On the browser's own computer the port may differ, because programs choose it when
// they start.
func matches(allowed []string, asked string) bool {
	u, ok := redirectable(asked)
	if !ok {
		return false
	}
	if slices.Contains(allowed, asked) {
		return true
	}
	if !loopback(u) {
		return false
	}
	return slices.ContainsFunc(allowed, func(one string) bool {
		a, ok := redirectable(one)
		return ok && loopback(a) && a.Hostname() == u.Hostname() && a.EscapedPath() == u.EscapedPath() &&
			a.RawQuery == u.RawQuery
	})
}

// target returns the form of an address in a content security policy: its origin, or the scheme of
// a program.
func target(u *url.URL) string {
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}

// shownAddress returns the part of an address that a member sees.
func shownAddress(u *url.URL) string {
	switch {
	case loopback(u):
		return "this computer (" + u.Host + ")"
	case u.Scheme == "https":
		return u.Host
	}
	return "a program on this computer (" + u.Scheme + ":)"
}

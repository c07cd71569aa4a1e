package signin

import (
	"net/http"
	"strings"

	"coffer/internal/platform/text"
)

// browser returns a description by which a member recognizes a session: the browser and its system,
// as far as the user agent states them.
func browser(r *http.Request) string {
	agent := r.UserAgent()
	find := func(names ...string) string {
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(agent, names[i]) {
				return names[i+1]
			}
		}
		return ""
	}
	name := find("Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "FxiOS/", "Firefox", "CriOS/", "Chrome",
		"Chrome/", "Chrome", "Safari/", "Safari")
	system := find("iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS X", "macOS",
		"CrOS", "ChromeOS", "Linux", "Linux")
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case name+system != "":
		return name + system
	}
	product, _, _ := strings.Cut(agent, " ")
	if shown := text.Name(product).Plain(); shown != "" {
		return shown
	}
	return "unknown"
}

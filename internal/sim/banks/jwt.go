package banks

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// signed rejects calls unless the application has signed them a moment ago.
func (s *EnableBanking) signed(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || !s.believes(given) {
			s.fail(w, http.StatusUnauthorized, "UNAUTHORIZED_ACCESS")
			return
		}
		do(w, r)
	}
}

func (s *EnableBanking) believes(given string) bool {
	parts := strings.Split(given, ".")
	if len(parts) != 3 {
		return false
	}
	var head struct{ Typ, Alg, Kid string }
	var claims struct {
		Iss, Aud string
		Iat, Exp int64
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !plainJSON(parts[0], &head) || !plainJSON(parts[1], &claims) {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	now := s.Now().Unix()
	return head.Typ == "JWT" && head.Alg == "RS256" && head.Kid == s.Application() &&
		claims.Iss == "enablebanking.com" && claims.Aud == "api.enablebanking.com" && claims.Iat <= now+60 &&
		claims.Exp > now && claims.Exp-claims.Iat <= int64(24*time.Hour/time.Second) &&
		rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], signature) == nil
}

func plainJSON(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, into) == nil
}

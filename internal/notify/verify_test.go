package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// verify is the verification that the specification of Standard Webhooks 1.0 asks of receivers,
// written from it and from nothing of this package.
func verify(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	id, stamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || stamp == "" || signatures == "" {
		return errors.New("a header is missing")
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	const tolerance = 5 * time.Minute
	if sent := time.Unix(at, 0); now.Sub(sent) > tolerance || sent.Sub(now) > tolerance {
		return errors.New("too old or too new")
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id))
	h.Write([]byte{'.'})
	h.Write([]byte(stamp))
	h.Write([]byte{'.'})
	h.Write(body)
	want := base64.StdEncoding.EncodeToString(h.Sum(nil))
	for versioned := range strings.SplitSeq(signatures, " ") {
		version, signature, _ := strings.Cut(versioned, ",")
		if version == "v1" && subtle.ConstantTimeCompare([]byte(signature), []byte(want)) == 1 {
			return nil
		}
	}
	return errors.New("no signature matches")
}

package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// verify is the verification that the specification of Standard Webhooks 1.0 requires of receivers.
// It is written from the specification, without code of this package. The official library must
// agree on every signature. The library can only check against the current time, so verify checks
// the time itself.
func verify(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	id, stamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || stamp == "" || signatures == "" {
		return errors.New("a header is missing")
	}
	theirs, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	stamped, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id))
	h.Write([]byte{'.'})
	h.Write([]byte(stamp))
	h.Write([]byte{'.'})
	h.Write(body)
	want := base64.StdEncoding.EncodeToString(h.Sum(nil))
	found := slices.ContainsFunc(strings.Split(signatures, " "), func(versioned string) bool {
		version, signature, _ := strings.Cut(versioned, ",")
		return version == "v1" && subtle.ConstantTimeCompare([]byte(signature), []byte(want)) == 1
	})
	if err := theirs.VerifyIgnoringTimestamp(body, header); (err == nil) != found {
		panic(fmt.Sprintf("the verifiers differ: %v of ours, %v of theirs", found, err))
	}
	const tolerance = 5 * time.Minute
	if sent := time.Unix(stamped, 0); now.Sub(sent) > tolerance || sent.Sub(now) > tolerance {
		return errors.New("too old or too new")
	}
	if !found {
		return errors.New("no signature matches")
	}
	return nil
}

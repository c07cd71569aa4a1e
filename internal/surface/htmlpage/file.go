package htmlpage

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// A File is a static file of coffer that pages load. Its path contains a hash of its content, so
// browsers may cache it forever.
type File struct {
	Path    string
	kind    string
	content []byte
}

// NewFile returns a File below /static/ for content that is part of the program.
func NewFile(name, kind string, content []byte) *File {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return &File{"/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext, kind, content}
}

// ServeHTTP implements http.Handler.
func (f *File) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(f.content) // a client that has disconnected needs no answer
}

// Package demo is a scripted model provider with OpenAI's API: every endpoint responds
// immediately, from the request alone, without an account anywhere. `sluice demo` registers it as
// a provider so that a newcomer sees real responses, and the fault-injecting upstream of the
// tests uses it. Start reading at Upstream.
//
// Responses echo the request, and tokens are words (see Tokens), so that a test can compute every
// usage value from the text it sent. Ids of responses that are not stored are derived from the
// request's bytes: the same request gets the same response. Stored objects (files, batches,
// fine-tuning jobs, responses) are numbered and stored in memory, the newest within the limits of
// limits.go.
//
// Source: https://platform.openai.com/docs/api-reference, read 2026-11.
package demo

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Options configure an Upstream. The zero value is complete: no key, no pauses.
type Options struct {
	Key   sealed.String // callers must send it as "Authorization: Bearer …"; empty: no key is required
	Gap   time.Duration // pause before each stream event; 0: none
	Clock ident.Clock   // stamps "created" fields; nil: the machine's
}

// Upstream is the scripted provider: an http.Handler for paths below /v1. It is safe for
// concurrent use and starts no goroutines.
type Upstream struct {
	opts      Options
	mux       *http.ServeMux
	number    atomic.Int64
	files     *store[file]
	batches   *store[batch]
	jobs      *store[job]
	responses *store[storedResponse]
}

var _ http.Handler = (*Upstream)(nil)

// New returns an Upstream without stored objects.
func New(o Options) *Upstream {
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	u := &Upstream{
		opts: o, mux: http.NewServeMux(),
		files:     newStore[file](maxFiles, maxFileBytes),
		batches:   newStore[batch](maxRecords, maxRecordBytes),
		jobs:      newStore[job](maxRecords, maxRecordBytes),
		responses: newStore[storedResponse](maxRecords, maxRecordBytes),
	}
	for pattern, h := range u.routes() {
		u.mux.Handle(pattern, h)
	}
	return u
}

// Handler returns an Upstream with default options.
func Handler() http.Handler { return New(Options{}) }

// ServeHTTP serves a request. Errors have OpenAI's error body.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !u.knows(r) {
		refuse(w, &refusal{Status: http.StatusUnauthorized, Message: "Incorrect API key provided.", Code: "invalid_api_key"})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	u.mux.ServeHTTP(w, r)
}

// knows reports whether the caller may call. Images are public, like OpenAI's image URLs, and so
// is everything if no key is set.
func (u *Upstream) knows(r *http.Request) bool {
	if u.opts.Key.Empty() || strings.HasPrefix(r.URL.Path, imagePath) {
		return true
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && u.opts.Key.Equal(key)
}

// handler serves one endpoint; a *refusal that it returns becomes the response.
type handler func(w http.ResponseWriter, r *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		refuse(w, err)
	}
}

// routes returns the endpoints. "/" matches what no other pattern matches, wrong methods
// included, so that these too get OpenAI's error body.
func (u *Upstream) routes() map[string]handler {
	return map[string]handler{
		"POST /v1/chat/completions":             u.chat,
		"POST /v1/completions":                  u.complete,
		"POST /v1/embeddings":                   u.embed,
		"POST /v1/audio/transcriptions":         u.transcribe,
		"POST /v1/audio/translations":           u.translate,
		"POST /v1/audio/speech":                 u.createSpeech,
		"POST /v1/images/generations":           u.generateImage,
		"POST /v1/images/edits":                 u.editImage,
		"GET " + imagePath + "{name}":           u.serveImage,
		"POST /v1/moderations":                  u.moderate,
		"POST /v1/rerank":                       u.rerank,
		"POST /v1/responses":                    u.respond,
		"GET /v1/responses/{id}":                u.findResponse,
		"DELETE /v1/responses/{id}":             u.dropResponse,
		"GET /v1/responses/{id}/input_items":    u.inputItems,
		"POST /v1/files":                        u.uploadFile,
		"GET /v1/files":                         u.listFiles,
		"GET /v1/files/{id}":                    u.findFile,
		"DELETE /v1/files/{id}":                 u.dropFile,
		"GET /v1/files/{id}/content":            u.fileContent,
		"POST /v1/batches":                      u.createBatch,
		"GET /v1/batches":                       u.listBatches,
		"GET /v1/batches/{id}":                  u.findBatch,
		"POST /v1/batches/{id}/cancel":          u.cancelBatch,
		"POST /v1/fine_tuning/jobs":             u.createJob,
		"GET /v1/fine_tuning/jobs":              u.listJobs,
		"GET /v1/fine_tuning/jobs/{id}":         u.findJob,
		"POST /v1/fine_tuning/jobs/{id}/cancel": u.cancelJob,
		"GET /v1/models":                        u.listModels,
		"GET /v1/models/{id}":                   u.findModel,
		"GET /v1/realtime":                      u.realtime,
		"/":                                     unknown,
	}
}

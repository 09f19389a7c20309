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

// Upstream is the scripted provider: an http.Handler for paths below /v1. It checks the key and
// routes each request to the type of its API, for example chatAPI. It is safe for concurrent use and
// starts no goroutines.
type Upstream struct {
	key sealed.String
	mux *http.ServeMux
}

var _ http.Handler = (*Upstream)(nil)

// New returns an Upstream without stored objects.
func New(o Options) *Upstream {
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	u := &Upstream{key: o.Key, mux: http.NewServeMux()}
	for pattern, h := range routes(&serverState{clock: o.Clock, gap: o.Gap}, u.mux) {
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
	if u.key.Empty() || strings.HasPrefix(r.URL.Path, imagePath) {
		return true
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && u.key.Equal(key)
}

// handler serves one endpoint; a *refusal that it returns becomes the response.
type handler func(w http.ResponseWriter, r *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		refuse(w, err)
	}
}

// routes returns the endpoints. "/" matches what no other pattern matches, wrong methods
// included, so that these too get OpenAI's error body. provider serves the calls of batches.
func routes(rt *serverState, provider http.Handler) map[string]handler {
	chat, images, audio := &chatAPI{rt}, &imageAPI{rt}, &audioAPI{rt}
	responses := &responseAPI{rt, newStore[storedResponse](maxRecords, maxRecordBytes)}
	files := &fileAPI{rt, newStore[file](maxFiles, maxFileBytes)}
	batches := &batchAPI{rt, files, provider, newStore[batch](maxRecords, maxRecordBytes)}
	jobs := &fineTuningAPI{rt, files, newStore[job](maxRecords, maxRecordBytes)}
	return map[string]handler{
		"POST /v1/chat/completions":             chat.chat,
		"POST /v1/completions":                  chat.complete,
		"POST /v1/embeddings":                   embed,
		"POST /v1/audio/transcriptions":         audio.transcribe,
		"POST /v1/audio/translations":           audio.translate,
		"POST /v1/audio/speech":                 audio.createSpeech,
		"POST /v1/images/generations":           images.generateImage,
		"POST /v1/images/edits":                 images.editImage,
		"GET " + imagePath + "{name}":           images.serveImage,
		"POST /v1/moderations":                  moderate,
		"POST /v1/rerank":                       rerank,
		"POST /v1/responses":                    responses.respond,
		"GET /v1/responses/{id}":                responses.findResponse,
		"DELETE /v1/responses/{id}":             responses.dropResponse,
		"GET /v1/responses/{id}/input_items":    responses.inputItems,
		"POST /v1/files":                        files.uploadFile,
		"GET /v1/files":                         files.listFiles,
		"GET /v1/files/{id}":                    files.findFile,
		"DELETE /v1/files/{id}":                 files.dropFile,
		"GET /v1/files/{id}/content":            files.fileContent,
		"POST /v1/batches":                      batches.createBatch,
		"GET /v1/batches":                       batches.listBatches,
		"GET /v1/batches/{id}":                  batches.findBatch,
		"POST /v1/batches/{id}/cancel":          batches.cancelBatch,
		"POST /v1/fine_tuning/jobs":             jobs.createJob,
		"GET /v1/fine_tuning/jobs":              jobs.listJobs,
		"GET /v1/fine_tuning/jobs/{id}":         jobs.findJob,
		"POST /v1/fine_tuning/jobs/{id}/cancel": jobs.cancelJob,
		"GET /v1/models":                        listModels,
		"GET /v1/models/{id}":                   findModel,
		"GET /v1/realtime":                      realtime,
		"/":                                     unknown,
	}
}

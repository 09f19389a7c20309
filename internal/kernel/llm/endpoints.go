// Package llm contains the types of model traffic that all packages share. These are the
// endpoints and their routes, the usage of a call, and the common form for translation between
// providers: a conversation (Call), its response (Response) and its stream (Event).
// FieldTracker records which parts of a Call a dialect cannot express. Start with Routes and
// Call.
package llm

import (
	"net/url"
	"path"
	"strings"
)

// Endpoint is the type of a call, for example "chatComplete". Policies, guardrails and provider
// tables use these names.
// Source: contract/dataplane.md 6.1, contract/providers.yaml function_names.
type Endpoint string

// The endpoints.
const (
	ChatComplete             Endpoint = "chatComplete"
	Complete                 Endpoint = "complete"
	Embed                    Endpoint = "embed"
	Messages                 Endpoint = "messages"
	MessagesCountTokens      Endpoint = "messagesCountTokens"
	CreateModelResponse      Endpoint = "createModelResponse"
	GetModelResponse         Endpoint = "getModelResponse"
	DeleteModelResponse      Endpoint = "deleteModelResponse"
	ListResponseInputItems   Endpoint = "listResponseInputItems"
	CountResponseInputTokens Endpoint = "countResponseInputTokens"
	ImageGenerate            Endpoint = "imageGenerate"
	ImageEdit                Endpoint = "imageEdit"
	CreateSpeech             Endpoint = "createSpeech"
	CreateTranscription      Endpoint = "createTranscription"
	CreateTranslation        Endpoint = "createTranslation"
	Rerank                   Endpoint = "rerank"
	Moderate                 Endpoint = "moderate"
	OCR                      Endpoint = "ocr"
	UploadFile               Endpoint = "uploadFile"
	ListFiles                Endpoint = "listFiles"
	RetrieveFile             Endpoint = "retrieveFile"
	DeleteFile               Endpoint = "deleteFile"
	RetrieveFileContent      Endpoint = "retrieveFileContent"
	CreateBatch              Endpoint = "createBatch"
	ListBatches              Endpoint = "listBatches"
	RetrieveBatch            Endpoint = "retrieveBatch"
	CancelBatch              Endpoint = "cancelBatch"
	GetBatchOutput           Endpoint = "getBatchOutput"
	CreateFinetune           Endpoint = "createFinetune"
	ListFinetunes            Endpoint = "listFinetunes"
	RetrieveFinetune         Endpoint = "retrieveFinetune"
	CancelFinetune           Endpoint = "cancelFinetune"
	ListModels               Endpoint = "listModels"
	RetrieveModel            Endpoint = "retrieveModel"
	Realtime                 Endpoint = "realtime"
	RunPrompt                Endpoint = "runPrompt" // a stored prompt: becomes chatComplete or complete after rendering
	Proxy                    Endpoint = "proxy"
)

// BodyKind is the format of the request body of an endpoint.
type BodyKind int

// The body formats.
const (
	NoBody    BodyKind = iota
	JSON               // application/json
	Multipart          // multipart/form-data
	Opaque             // any format, relayed without parsing
)

// Route is one typed route below /v1. A path segment {id} matches the path up to the next fixed
// segment. It includes slashes where ids may contain them: ids of batches may be ARNs, and ids
// of models may be "@slug/meta-llama/Llama-3".
type Route struct {
	Method   string
	Path     string // "/batches/{id}/cancel"
	Endpoint Endpoint
	Body     BodyKind
}

// Routes lists the typed routes. Every other path is Proxy. To add a typed endpoint, add its
// line here and its codec in the dialects that serve it.
var Routes = []Route{
	{"POST", "/chat/completions", ChatComplete, JSON},
	{"POST", "/completions", Complete, JSON},
	{"POST", "/embeddings", Embed, JSON},
	{"POST", "/messages", Messages, JSON},
	{"POST", "/messages/count_tokens", MessagesCountTokens, JSON},
	{"POST", "/responses", CreateModelResponse, JSON},
	{"POST", "/responses/input_tokens", CountResponseInputTokens, JSON},
	{"GET", "/responses/{id}", GetModelResponse, NoBody},
	{"DELETE", "/responses/{id}", DeleteModelResponse, NoBody},
	{"GET", "/responses/{id}/input_items", ListResponseInputItems, NoBody},
	{"POST", "/images/generations", ImageGenerate, JSON},
	{"POST", "/images/edits", ImageEdit, Multipart},
	{"POST", "/audio/speech", CreateSpeech, JSON},
	{"POST", "/audio/transcriptions", CreateTranscription, Multipart},
	{"POST", "/audio/translations", CreateTranslation, Multipart},
	{"POST", "/rerank", Rerank, JSON},
	{"POST", "/moderations", Moderate, JSON},
	{"POST", "/ocr", OCR, JSON},
	{"POST", "/files", UploadFile, Multipart},
	{"GET", "/files", ListFiles, NoBody},
	{"GET", "/files/{id}", RetrieveFile, NoBody},
	{"DELETE", "/files/{id}", DeleteFile, NoBody},
	{"GET", "/files/{id}/content", RetrieveFileContent, NoBody},
	{"POST", "/batches", CreateBatch, JSON},
	{"GET", "/batches", ListBatches, NoBody},
	{"GET", "/batches/{id}", RetrieveBatch, NoBody},
	{"POST", "/batches/{id}/cancel", CancelBatch, JSON},
	{"GET", "/batches/{id}/output", GetBatchOutput, NoBody},
	{"POST", "/fine_tuning/jobs", CreateFinetune, JSON},
	{"GET", "/fine_tuning/jobs", ListFinetunes, NoBody},
	{"GET", "/fine_tuning/jobs/{id}", RetrieveFinetune, NoBody},
	{"POST", "/fine_tuning/jobs/{id}/cancel", CancelFinetune, JSON},
	{"GET", "/models", ListModels, NoBody},
	{"GET", "/models/{id}", RetrieveModel, NoBody},
	{"GET", "/realtime", Realtime, NoBody},
	{"POST", "/prompts/{id}/completions", RunPrompt, JSON},
}

// Match is the result of Lookup.
type Match struct {
	Endpoint Endpoint
	Body     BodyKind
	ID       string // still escaped, for example "arn%3Aaws%2F1"; empty when the route does not have an id
}

// Lookup finds the typed route of a method and an escaped path below /v1, for example
// "/files/file-1". A path without a typed route is Proxy with an opaque body. A route without
// an id also matches a path with needless escapes, slashes and dots, because many providers
// treat such a path as equal. Otherwise a caller could bypass the rules of a route with
// "/chat/complet%69ons" or "/chat//completions/". A route with an id starts no model work at a
// provider and matches only its exact form.
func Lookup(method, path string) Match {
	if m, ok := exact[method+" "+path]; ok {
		return m
	}
	if m, ok := exact[method+" "+plainly(path)]; ok {
		return m
	}
	for _, p := range patterns {
		if p.method != method || !strings.HasPrefix(path, p.prefix) || !strings.HasSuffix(path, p.suffix) {
			continue
		}
		id := path[len(p.prefix) : len(path)-min(len(p.suffix), len(path)-len(p.prefix))]
		if id != "" && (p.suffix != "" || p.slashes || !strings.Contains(id, "/")) {
			return Match{p.endpoint, p.body, id}
		}
	}
	return Match{Endpoint: Proxy, Body: Opaque}
}

// plainly returns a path without needless escapes, slashes and dots.
func plainly(escaped string) string {
	plain, err := url.PathUnescape(escaped)
	if err != nil || plain == "" {
		return escaped
	}
	return path.Clean(plain)
}

type pattern struct {
	method, prefix, suffix string
	endpoint               Endpoint
	body                   BodyKind
	slashes                bool // the id may contain slashes
}

// exact are the Routes without an id, by method and path; patterns are the others.
var exact, patterns = index()

// index sorts the Routes into exact and patterns. Patterns with a suffix come first, so that
// {id}/content takes precedence over {id}.
func index() (exact map[string]Match, patterns []pattern) {
	exact = make(map[string]Match, len(Routes))
	var open []pattern
	for _, r := range Routes {
		prefix, suffix, found := strings.Cut(r.Path, "{id}")
		switch p := (pattern{r.Method, prefix, suffix, r.Endpoint, r.Body, prefix == "/batches/" || prefix == "/models/"}); {
		case !found:
			exact[r.Method+" "+r.Path] = Match{Endpoint: r.Endpoint, Body: r.Body}
		case suffix != "":
			patterns = append(patterns, p)
		default:
			open = append(open, p)
		}
	}
	return exact, append(patterns, open...)
}

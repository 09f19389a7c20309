// Package llm holds the words of model traffic that every room shares: the endpoints and
// their routes, what a call used, and the hub of all translation: a conversation (Call),
// its answer (Reply) and its stream (Event) in the words of no provider, with the Tally of
// what a provider has no words for.
package llm

import (
	"net/url"
	"path"
	"strings"
)

// Endpoint is the kind of a call, for example "chatComplete". The names are those
// that policies, guardrails and provider tables use.
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
	RunPrompt                Endpoint = "runPrompt" // a saved prompt: chatComplete or complete once it is filled in
	Proxy                    Endpoint = "proxy"
)

// BodyKind is the form in which an endpoint takes its body.
type BodyKind int

// The kinds of body.
const (
	NoBody    BodyKind = iota
	JSON               // application/json
	Multipart          // multipart/form-data
	Opaque             // anything, relayed unread
)

// Route is one typed route below /v1. A path segment {id} stands for the rest of
// the path up to the next fixed segment, slashes included where ids may have them: those of
// batches may be ARNs, those of models "@slug/meta-llama/Llama-3".
type Route struct {
	Method   string
	Path     string // "/batches/{id}/cancel"
	Endpoint Endpoint
	Body     BodyKind
}

// Routes is the list of typed routes; everything else is Proxy. To add a typed
// endpoint, add its line here and its codec in the dialects that serve it.
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

// Match is what Lookup found.
type Match struct {
	Endpoint Endpoint
	Body     BodyKind
	ID       string // still escaped, for example "arn%3Aaws%2F1"; empty when the route has none
}

// Lookup finds the typed route of a method and an escaped path below /v1, for
// example "/files/file-1". What is no typed route is Proxy with an opaque body. A route
// without an id is the same with escapes, slashes and dots in it that need not be there, as it
// is to many providers: else what holds of it could be stepped around by "/chat/complet%69ons"
// or "/chat//completions/". Those with an id start no work of a model at a provider, and are
// known as they are written alone.
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

// plainly is a path without what need not be in it.
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
	slashes                bool // the id may hold slashes
}

// exact are the Routes without an id, by method and path; patterns are the others.
var exact, patterns = index()

// index sorts the Routes out: patterns with a suffix stand first, so that {id}/content
// beats {id}.
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

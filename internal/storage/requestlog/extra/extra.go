// Package extra stores attributes that few attempts have, outside the columns of their row: as
// one JSON text, which every back end of the request log stores alike. A new field of
// record.Attempt that no filter uses goes here: into Fields, Take and ApplyTo.
package extra

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sluice/internal/domain/record"
)

// Fields are attributes that few attempts have. The text of the zero Fields is empty, so that
// they cost most rows almost nothing.
type Fields struct {
	ID                string  `json:"id,omitempty"` // original ids, if a column stores them in another form
	RequestID         string  `json:"request_id,omitempty"`
	TraceID           string  `json:"trace_id,omitempty"`
	ParentSpan        string  `json:"parent_span,omitempty"`
	Error             string  `json:"error,omitempty"`
	Dropped           string  `json:"dropped,omitempty"`
	RequestType       string  `json:"request_type,omitempty"`  // with its boundary
	ResponseType      string  `json:"response_type,omitempty"` // with its boundary
	Source            string  `json:"source,omitempty"`
	InputAudioTokens  int64   `json:"input_audio_tokens,omitempty"`
	OutputAudioTokens int64   `json:"output_audio_tokens,omitempty"`
	InputImageTokens  int64   `json:"image_tokens,omitempty"`
	OutputImageTokens int64   `json:"output_image_tokens,omitempty"`
	Pages             int64   `json:"pages,omitempty"`
	SearchUnits       int64   `json:"search_units,omitempty"`
	FileSearches      int64   `json:"file_searches,omitempty"`
	CodeSessions      int64   `json:"code_sessions,omitempty"`
	AudioSeconds      float64 `json:"audio_seconds,omitempty"`
	CitationTokens    int64   `json:"citation_tokens,omitempty"`
	CostNano          int64   `json:"cost_nano,omitempty"` // as reported by the provider
	SearchContext     string  `json:"search_context,omitempty"`
	CacheHourTokens   int64   `json:"cache_hour_tokens,omitempty"`
	Tier              string  `json:"tier,omitempty"`
	PromptID          string  `json:"prompt_id,omitempty"`
	PromptVersionID   string  `json:"prompt_version_id,omitempty"`
	ReplayOf          string  `json:"replay_of,omitempty"`
	Runtime           string  `json:"runtime,omitempty"`
	RuntimeVersion    string  `json:"runtime_version,omitempty"`
	SDKVersion        string  `json:"sdk_version,omitempty"`
	Timings           timings `json:"timings,omitzero"`
	Named             bool    `json:"named,omitempty"`
	ClientRequest     head    `json:"client_request,omitzero"`
	ClientResponse    head    `json:"client_response,omitzero"`
	Reshaped          head    `json:"reshaped,omitzero"`
	Translated        bool    `json:"translated,omitempty"`
	Hooks             string  `json:"hooks,omitempty"`
	Lookup            string  `json:"cache_lookup,omitempty"`
	PromptCache       string  `json:"prompt_cache,omitempty"`
	BodyKey           string  `json:"body_key,omitempty"` // of bodies.Ref
}

// timings are the timings of an attempt in the order of its fields, in microseconds.
type timings [6]int64

// timingsOf lists the fields.
func timingsOf(t *record.Timings) [6]*time.Duration {
	return [...]*time.Duration{&t.Parsing, &t.Preparing, &t.Cache, &t.Queue, &t.Connect, &t.Decoding}
}

// head describes a body that the client sent or received in a different form than the upstream.
type head struct {
	Type      string `json:"type,omitempty"`
	Encoding  string `json:"encoding,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	Size      int64  `json:"size,omitempty"`
}

func headOf(b *record.Body) head { return head{b.Type, b.Encoding, b.Truncated, b.Size} }

func (h head) applyTo(b *record.Body) {
	b.Type, b.Encoding, b.Truncated, b.Size = h.Type, h.Encoding, h.Truncated, h.Size
}

// Take copies everything except the ids from an attempt.
func (x *Fields) Take(a *record.Attempt) {
	u := &a.Usage
	x.ParentSpan, x.Error, x.Dropped, x.Source = a.ParentSpan, a.Error, a.Dropped, string(a.Source)
	x.InputAudioTokens, x.OutputAudioTokens, x.SearchUnits = u.InputAudioTokens, u.OutputAudioTokens, u.SearchUnits
	x.InputImageTokens, x.OutputImageTokens, x.Pages = u.InputImageTokens, u.OutputImageTokens, u.Pages
	x.FileSearches, x.CodeSessions = u.FileSearches, u.CodeSessions
	x.CitationTokens, x.CostNano, x.SearchContext = u.CitationTokens, u.CostNano, u.SearchContext
	x.CacheHourTokens, x.Tier = u.CacheHourTokens, u.Tier
	x.PromptID, x.PromptVersionID, x.ReplayOf = a.PromptID, a.PromptVersionID, a.ReplayOf
	x.Runtime, x.RuntimeVersion, x.SDKVersion = a.Runtime, a.RuntimeVersion, a.SDKVersion
	for i, d := range timingsOf(&a.Timings) {
		x.Timings[i] = d.Microseconds()
	}
	x.Named = a.Named
	x.ClientRequest, x.ClientResponse = headOf(&a.ClientRequest), headOf(&a.ClientResponse)
	x.Reshaped, x.Translated, x.Hooks, x.Lookup = headOf(&a.Reshaped), a.Translated, a.Hooks, a.Lookup
	x.PromptCache = a.PromptCache
	if s := u.AudioSeconds; !math.IsNaN(s) && !math.IsInf(s, 0) { // JSON cannot represent these numbers
		x.AudioSeconds = s
	}
	if Unique(a.Request.Type) {
		x.RequestType = a.Request.Type
	}
	if Unique(a.Response.Type) {
		x.ResponseType = a.Response.Type
	}
}

// ApplyTo is the inverse of Take. It clears a content type that is not included, so call it
// before filling in the columns of the row.
func (x *Fields) ApplyTo(a *record.Attempt) {
	u := &a.Usage
	a.ParentSpan, a.Error, a.Dropped, a.Source = x.ParentSpan, x.Error, x.Dropped, record.Source(x.Source)
	u.InputAudioTokens, u.OutputAudioTokens, u.SearchUnits = x.InputAudioTokens, x.OutputAudioTokens, x.SearchUnits
	u.InputImageTokens, u.OutputImageTokens, u.Pages = x.InputImageTokens, x.OutputImageTokens, x.Pages
	u.FileSearches, u.CodeSessions = x.FileSearches, x.CodeSessions
	u.AudioSeconds, u.CitationTokens, u.CostNano, u.SearchContext = x.AudioSeconds, x.CitationTokens, x.CostNano, x.SearchContext
	u.CacheHourTokens, u.Tier = x.CacheHourTokens, x.Tier
	a.PromptID, a.PromptVersionID, a.ReplayOf = x.PromptID, x.PromptVersionID, x.ReplayOf
	a.Runtime, a.RuntimeVersion, a.SDKVersion = x.Runtime, x.RuntimeVersion, x.SDKVersion
	for i, d := range timingsOf(&a.Timings) {
		*d = time.Duration(x.Timings[i]) * time.Microsecond
	}
	a.Named = x.Named
	x.ClientRequest.applyTo(&a.ClientRequest)
	x.ClientResponse.applyTo(&a.ClientResponse)
	x.Reshaped.applyTo(&a.Reshaped)
	a.Translated, a.Hooks, a.Lookup = x.Translated, x.Hooks, x.Lookup
	a.PromptCache = x.PromptCache
	a.Request.Type, a.Response.Type = x.RequestType, x.ResponseType
}

// Unique reports whether a content type differs for each body, as for multipart bodies. It is
// stored here, and not in a column of repeated values.
func Unique(contentType string) bool { return strings.Contains(contentType, "boundary") }

// Text returns the stored form, valid JSON in UTF-8; empty for the zero Fields.
func (x *Fields) Text() (string, error) {
	rest := *x
	rest.Timings, rest.Named = timings{}, false
	if rest == (Fields{}) {
		return x.usual(), nil
	}
	b, err := json.Marshal(*x) // a copy, so that x itself need not be allocated
	if err != nil {
		return "", fmt.Errorf("write log row: extra: %w", err)
	}
	return string(b), nil
}

// usual returns the text for the fields of most calls, as json.Marshal would write it at ten
// times the cost.
func (x *Fields) usual() string {
	if x.Timings == (timings{}) && !x.Named {
		return ""
	}
	var scratch [160]byte
	b := append(scratch[:0], '{')
	if x.Timings != (timings{}) {
		b = append(b, `"timings":[`...)
		for i, v := range x.Timings {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, v, 10)
		}
		b = append(b, ']')
	}
	if x.Named {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, `"named":true`...)
	}
	return string(append(b, '}'))
}

// Read is the inverse of Text.
func (x *Fields) Read(text string) error {
	*x = Fields{}
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), x); err != nil {
		return fmt.Errorf("read log row: extra: %w", err)
	}
	return nil
}

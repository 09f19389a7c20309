package logs

import (
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/hookresult"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/jsonedit"
)

// logObject is an attempt with all its details.
// Source: contract/content-and-observability.yaml, LogObject; timings and attempts are ours.
type logObject struct {
	ID             string                 `json:"_id" format:"uuid"`
	Request        logRequest             `json:"request" doc:"Request as the client sent it"`
	Response       logResponse            `json:"response" doc:"Response as the client received it"`
	OrganisationID string                 `json:"organisation_id"`
	CreatedAt      resource.Stamp         `json:"created_at"`
	Metrics        timedMetrics           `json:"metrics"`
	Untransformed  logExchange            `json:"finalUntransformedRequest" doc:"Final request in the client's format, with the changes of its prompt and config"`
	Transformed    logExchange            `json:"transformedRequest" doc:"Request as sent to the provider"`
	Original       logExchange            `json:"originalResponse" doc:"Response as the provider sent it"`
	LogFormat      string                 `json:"log_format" enum:"v1"`
	Timings        logTimings             `json:"timings" doc:"Milliseconds, with fractions"`
	Attempts       []logAttempt           `json:"attempts" nullable:"false" doc:"First 100 attempts of the request in order, including this one"`
	Hooks          hookresult.HookResults `json:"hooks" doc:"Results of guardrails; empty lists when none ran"`
	PromptCache    *logPromptCache        `json:"prompt_cache,omitempty" doc:"Use of the provider's prompt cache; absent when the config does not use it"`
	Cache          *logCache              `json:"cache,omitempty" doc:"Use of the response cache; absent if the cache was not used"`
	Corrections    []logCorrection        `json:"cost_corrections,omitempty" doc:"Cost changes by re-ratings, oldest first"`
	Feedbacks      []logFeedback          `json:"feedbacks" nullable:"true" doc:"Feedback on the trace, newest first; null when there is none"`
}

type logRequest struct {
	URL            string            `json:"url"`
	Method         string            `json:"method"`
	Headers        map[string]string `json:"headers,omitempty" doc:"Headers with *** for secrets; absent when bodies are not stored"`
	GatewayHeaders map[string]string `json:"gatewayHeaders,omitempty" doc:"x-gateway-* headers, masked in the same way"`
	Body           any               `json:"body,omitempty" doc:"JSON, or text; absent when bodies are not stored"`
	Truncated      bool              `json:"truncated,omitempty" doc:"Whether the stored value was truncated"`
	Size           int64             `json:"size" doc:"Bytes of the complete body"`
}

type logResponse struct {
	Status         int32             `json:"status"`
	ResponseTime   int64             `json:"responseTime" doc:"Response time in milliseconds"`
	Headers        map[string]string `json:"headers,omitempty"`
	Body           any               `json:"body,omitempty"`
	Truncated      bool              `json:"truncated,omitempty"`
	Size           int64             `json:"size"`
	LastUsedOption string            `json:"lastUsedOptionJsonPath"`
}

// logExchange is one direction of the traffic between gateway and provider.
// Source: contract/content-and-observability.yaml, RawExchange.
type logExchange struct {
	URL       string            `json:"url,omitempty"`
	Method    string            `json:"method,omitempty"`
	Headers   map[string]string `json:"headers,omitempty" doc:"Headers without the credential"`
	Body      any               `json:"body,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
}

// timedMetrics are LogMetrics with the times that lists leave out.
// Source: contract/content-and-observability.yaml, LogMetrics and LogListItem.
type timedMetrics struct {
	LogMetrics
	RequestParsing    int64 `json:"request_parsing_time" doc:"Milliseconds until the caller was identified and the body read, before the first attempt; not included in response_time"`
	PreProcessing     int64 `json:"pre_processing_time" doc:"Milliseconds until the call was sent"`
	CacheProcessing   int64 `json:"cache_processing_time" doc:"Milliseconds of the cache lookup"`
	ResponseParsing   int64 `json:"response_parsing_time" doc:"Milliseconds from the provider's last byte until the response was ready"`
	GatewayProcessing int64 `json:"gateway_processing_time" doc:"response_time without upstream_response_time"`
	UpstreamResponse  int64 `json:"upstream_response_time" doc:"Milliseconds from sending the call until the provider's last byte, including retries"`
}

// logTimings are the phases of an attempt.
type logTimings struct {
	RequestParsing    float64 `json:"request_parsing" doc:"Time before the first attempt of the request"`
	PreProcessing     float64 `json:"pre_processing"`
	CacheProcessing   float64 `json:"cache_processing" doc:"Part of pre_processing"`
	Queue             float64 `json:"queue" doc:"Time waiting for a connection that another call was opening"`
	Connect           float64 `json:"connect" doc:"DNS lookup, connecting and TLS; 0 on a reused connection"`
	FirstByte         float64 `json:"first_byte" doc:"Time from the start of the attempt to the provider's first byte; 0 without a response"`
	Upstream          float64 `json:"upstream" doc:"Time from sending the call until the provider's last byte; includes queue and connect"`
	ResponseParsing   float64 `json:"response_parsing"`
	GatewayProcessing float64 `json:"gateway_processing" doc:"Milliseconds of the request that the provider did not take"`
	Total             float64 `json:"total" doc:"Time until the last byte"`
}

func objectOf(a *record.Attempt, slug string) logObject {
	sent, answered := a.Request, a.Response
	request, response := clientsOf(&a.ClientRequest, &sent), clientsOf(&a.ClientResponse, &answered)
	if a.Named {
		response.Bytes = naming(response.Bytes, a.Provider)
	}
	headers, local := headersOf(a.ClientRequest.Head)
	return logObject{
		ID: a.ID,
		Request: logRequest{
			URL: a.Path, Method: a.Method, Headers: headers, GatewayHeaders: local, Body: readable(request), Truncated: request.Truncated, Size: request.Size,
		},
		Response: logResponse{
			Status: a.Status, ResponseTime: a.Duration.Milliseconds(), Headers: joinedHeaders(a.ClientResponse.Head), Body: readable(response), Truncated: response.Truncated, Size: response.Size,
			LastUsedOption: jsonPath(a.TargetPath),
		},
		OrganisationID: a.OrgID, CreatedAt: resource.Stamp(a.Started), Metrics: timedOf(a, slug), Timings: timingsOf(a), LogFormat: "v1", Hooks: hookresult.Read(a.Hooks), PromptCache: promptCacheOf(a.PromptCache), Cache: cacheOf(a.Lookup),
		Untransformed: untransformedOf(a),
		Transformed:   logExchange{URL: a.UpstreamURL, Method: a.Method, Headers: joinedHeaders(sent.Head), Body: readable(sent), Truncated: sent.Truncated},
		Original:      logExchange{Headers: joinedHeaders(answered.Head), Body: readable(answered), Truncated: answered.Truncated},
	}
}

// untransformedOf returns the request before it was translated to the provider's format. Its
// headers are those of the client.
func untransformedOf(a *record.Attempt) logExchange {
	b := a.Shaped()
	return logExchange{URL: a.Path, Method: a.Method, Body: readable(*b), Truncated: b.Truncated}
}

// clientsOf returns a body as the client sent or received it: local if it is a separate body,
// otherwise upstream.
func clientsOf(local, upstream *record.Body) record.Body {
	if local.Other() {
		return *local
	}
	return *upstream
}

// naming adds the provider's id to a response, as the client received it. A truncated body does
// not change.
func naming(body []byte, provider string) []byte {
	var d jsonedit.Doc
	if jsonedit.Scan(body, &d) != nil {
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("provider", jsonedit.Quote(provider))})
}

// headersOf parses stored header lines. It returns those of this gateway separately. Lines with
// the same name are joined by commas.
func headersOf(head []byte) (others, local map[string]string) {
	others, local = make(map[string]string), make(map[string]string)
	for line := range strings.Lines(string(head)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			continue
		}
		to := others
		if strings.HasPrefix(name, "x-gateway-") {
			to = local
		}
		if before, twice := to[name]; twice {
			value = before + ", " + value
		}
		to[name] = value
	}
	return others, local
}

// joinedHeaders returns all headers of headersOf in one map.
func joinedHeaders(head []byte) map[string]string {
	others, local := headersOf(head)
	for name, value := range local {
		others[name] = value
	}
	return others
}

func timedOf(a *record.Attempt, slug string) timedMetrics {
	t := &a.Timings
	return timedMetrics{
		LogMetrics: metricsOf(a, slug), RequestParsing: t.Parsing.Milliseconds(), PreProcessing: t.Preparing.Milliseconds(), CacheProcessing: t.Cache.Milliseconds(),
		ResponseParsing: t.Decoding.Milliseconds(), GatewayProcessing: a.GatewayTime().Milliseconds(), UpstreamResponse: a.Waited().Milliseconds(),
	}
}

func timingsOf(a *record.Attempt) logTimings {
	t := &a.Timings
	return logTimings{
		RequestParsing: millis(t.Parsing), PreProcessing: millis(t.Preparing), CacheProcessing: millis(t.Cache), Queue: millis(t.Queue), Connect: millis(t.Connect),
		FirstByte: millis(a.FirstByte), Upstream: millis(a.Waited()), ResponseParsing: millis(t.Decoding), GatewayProcessing: millis(a.GatewayTime()), Total: millis(a.Duration),
	}
}

// millis returns milliseconds with a precision of microseconds.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

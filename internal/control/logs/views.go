package logs

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
)

// LogMetrics is an attempt without its bodies.
// Source: contract/content-and-observability.yaml, LogMetrics.
type LogMetrics struct {
	ID              string            `json:"id" format:"uuid"`
	RequestID       string            `json:"request_id" doc:"Id that all attempts of one request share"`
	OrganisationID  string            `json:"organisation_id"`
	WorkspaceSlug   *string           `json:"workspace_slug" nullable:"true"`
	Config          string            `json:"config" doc:"Slug or id; inline for a config sent with the request"`
	VirtualKey      string            `json:"virtual_key" doc:"Slug of the saved provider"`
	APIKeyID        string            `json:"api_key_id"`
	PromptID        string            `json:"prompt_id,omitempty" doc:"Id of the saved prompt that was run"`
	PromptVersionID string            `json:"prompt_version_id,omitempty"`
	PromptSlug      string            `json:"prompt_slug,omitempty"`
	UserID          *string           `json:"user_id" nullable:"true"`
	CreatedAt       resource.Stamp    `json:"created_at"`
	IsSuccess       bool              `json:"is_success"`
	AIOrg           string            `json:"ai_org"`
	AIModel         string            `json:"ai_model"`
	ReqUnits        int64             `json:"req_units"`
	ResUnits        int64             `json:"res_units"`
	TotalUnits      int64             `json:"total_units"`
	ThinkingTokens  int64             `json:"thinking_tokens,omitempty" doc:"Part of res_units"`
	CachedTokens    int64             `json:"cached_tokens,omitempty" doc:"Part of req_units that the provider read from its cache"`
	Mode            string            `json:"mode,omitempty" enum:"single" doc:"single with one target; absent when the config has several, see last_used_option_json_path"`
	Cost            *float64          `json:"cost" nullable:"true" doc:"US cents charged to budgets; null without a price"`
	CostCurrency    string            `json:"cost_currency" enum:"USD"`
	CostSaved       float64           `json:"cost_saved" doc:"US cents that a response from the cache would have cost"`
	MaxCost         float64           `json:"cost_bound" doc:"US cents reserved before the call was sent"`
	CostState       string            `json:"cost_state,omitempty" enum:"settled,estimated,released,unknown,elsewhere" doc:"settled: as the provider states; estimated: tokens were counted by the gateway; released: not charged; unknown: the gateway stopped meanwhile and the maximum cost counts; elsewhere: reported by an application, not charged to a budget"`
	CostUnpriced    string            `json:"cost_unpriced,omitempty" doc:"Reason for a missing or partial cost, for example no_rate:searches when searches do not have a price"`
	CostTerms       string            `json:"cost_terms,omitempty" doc:"Calculation of the cost"`
	PriceVersion    string            `json:"price_version,omitempty"`
	RequestURL      string            `json:"request_url"`
	RequestMethod   string            `json:"request_method"`
	Endpoint        string            `json:"endpoint" doc:"Endpoint: chatComplete, embed, proxy, …"`
	StatusCode      int32             `json:"response_status_code"`
	UpstreamStatus  int32             `json:"upstream_status_code" doc:"Status of the provider; 0 without a response"`
	ResponseTime    int64             `json:"response_time" doc:"Milliseconds until the last byte"`
	FirstByte       int64             `json:"time_to_first_byte" doc:"Milliseconds; 0 without a first byte"`
	IsProxyCall     bool              `json:"is_proxy_call"`
	CacheStatus     *string           `json:"cache_status" nullable:"true"`
	StreamMode      int               `json:"stream_mode" enum:"0,1"`
	Attempt         int32             `json:"attempt" doc:"Number of the attempt in the request, from 0"`
	RetrySuccess    int32             `json:"retry_success_count" doc:"Retries until success; 0 without retries, -1 when all failed"`
	LastUsedOption  int               `json:"last_used_option_index"`
	LastUsedPath    string            `json:"last_used_option_json_path,omitempty"`
	Outcome         record.Outcome    `json:"outcome" doc:"Outcome: ok, refused, failed, unreachable, timeout, …"`
	Error           string            `json:"error,omitempty" doc:"code and text of what failed: upstream_timeout: …; provider_error: … for an error that the provider answered with, its own code in brackets at the end. Without its message where no bodies are kept"`
	DroppedParams   []string          `json:"dropped_params,omitempty" doc:"Request fields that the provider does not support"`
	TraceID         string            `json:"trace_id"`
	SpanID          string            `json:"span_id"`
	SpanName        string            `json:"span_name"`
	ParentSpanID    string            `json:"parent_span_id"`
	Source          record.Source     `json:"source" enum:"gateway,api,otlp,replay"`
	Metadata        map[string]string `json:"metadata"`
	MetadataKeys    []string          `json:"metadata.key" nullable:"true"`
	MetadataValues  []string          `json:"metadata.value" nullable:"true"`
	ReplayOf        string            `json:"replay_of,omitempty" doc:"Id of the log that this one replays"`

	OrganisationName string  `json:"organisation_name"`
	ConfigID         string  `json:"config_id,omitempty" doc:"Id of the saved config; absent for an inline or a deleted config"`
	ConfigVersionID  string  `json:"config_version_id,omitempty" doc:"Id of the config version when the request arrived"`
	CacheType        *string `json:"cache_type" nullable:"true" enum:"simple,semantic" doc:"Kind of cache that answered; null when no cache was used"`
	InternalTraceID  string  `json:"internal_trace_id" doc:"Id of the request inside the gateway"`
	Runtime          string  `json:"runtime" doc:"Runtime that the client library reports, for example node"`
	RuntimeVersion   string  `json:"runtime_version"`
	SDKVersion       string  `json:"sdk_version"`
	PathFormat       string  `json:"log_store_file_path_format" enum:"v1,v2" doc:"Always v2: format of the paths of stored bodies"`
}

func metricsOf(a *record.Attempt, slug string) LogMetrics {
	u := a.Usage
	m := LogMetrics{
		ID: a.ID, RequestID: a.RequestID, OrganisationID: a.OrgID, WorkspaceSlug: jsonfield.OrNull(slug), Config: a.ConfigID, VirtualKey: a.ProviderID,
		PromptID: a.PromptID, PromptVersionID: a.PromptVersionID, PromptSlug: a.PromptSlug,
		APIKeyID: a.KeyID, UserID: jsonfield.OrNull(a.UserID), CreatedAt: resource.Stamp(a.Started), IsSuccess: a.Status >= 200 && a.Status <= 299,
		AIOrg: a.Provider, AIModel: a.Model, ReqUnits: u.InputTokens, ResUnits: u.OutputTokens, TotalUnits: a.Tokens(),
		ThinkingTokens: u.ReasoningTokens, CachedTokens: u.CachedTokens, Mode: modeOf(a),
		RequestURL: a.Path, RequestMethod: a.Method, Endpoint: string(a.Endpoint), StatusCode: a.Status, UpstreamStatus: a.Upstream,
		ResponseTime: a.Duration.Milliseconds(), FirstByte: a.FirstByte.Milliseconds(),
		IsProxyCall: a.Endpoint == llm.Proxy && a.Source.Served(), CacheStatus: jsonfield.OrNull(a.CacheStatus), StreamMode: jsonfield.Bit(a.Stream), Attempt: a.Number,
		RetrySuccess: a.Retries, LastUsedOption: lastIndex(a.TargetPath), LastUsedPath: jsonPath(a.TargetPath), Outcome: a.Outcome, Error: a.Error,
		TraceID: a.TraceID, SpanID: a.SpanID, SpanName: a.SpanName, ParentSpanID: a.ParentSpan, Source: a.Source.PublicName(), Metadata: a.Metadata, ReplayOf: a.ReplayOf,
	}
	m.InternalTraceID, m.Runtime, m.RuntimeVersion, m.SDKVersion, m.PathFormat = a.RequestID, a.Runtime, a.RuntimeVersion, a.SDKVersion, "v2"
	m.CacheType = cacheTypeOf(a.CacheStatus)
	m.setCost(a)
	if a.Dropped != "" {
		m.DroppedParams = strings.Split(a.Dropped, ", ")
	}
	if a.Retries > 0 && !m.IsSuccess {
		m.RetrySuccess = -1
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	for name := range a.Metadata {
		m.MetadataKeys = append(m.MetadataKeys, name)
	}
	slices.Sort(m.MetadataKeys)
	for _, name := range m.MetadataKeys {
		m.MetadataValues = append(m.MetadataValues, a.Metadata[name])
	}
	return m
}

// cacheTypeOf returns the type of cache that was used, from its status; nil for none.
func cacheTypeOf(status string) *string {
	switch {
	case status == "" || status == "DISABLED":
		return nil
	case strings.HasPrefix(status, "SEMANTIC"):
		return new("semantic")
	}
	return new("simple")
}

func (m *LogMetrics) setCost(a *record.Attempt) {
	s := &a.Spend
	m.Cost = costOf(a)
	m.CostCurrency, m.CostSaved, m.MaxCost = "USD", cents(s.Saved), cents(s.MaxCost)
	m.CostState, m.CostUnpriced, m.CostTerms, m.PriceVersion = s.State, s.Unpriced, s.Terms, s.Version
}

// costOf returns the cost of an attempt in US cents; nil if there is no price.
func costOf(a *record.Attempt) *float64 {
	if nano, known := a.Cost(); known {
		return new(cents(nano))
	}
	return nil
}

// cents converts nano-dollars to US cents.
func cents(nano int64) float64 { return float64(nano) / 1e7 }

// jsonPath returns the path of a target as clients see it: "$.config.targets[1]".
func jsonPath(target string) string {
	if target == "" {
		return ""
	}
	return "$." + target
}

// lastIndex returns the position of a target in its list: 1 for "config.targets[1]", 0 for a
// target without one.
func lastIndex(target string) int {
	i := strings.LastIndexByte(target, '[')
	if i < 0 || !strings.HasSuffix(target, "]") {
		return 0
	}
	n, err := strconv.Atoi(target[i+1 : len(target)-1])
	if err != nil {
		return 0
	}
	return n
}

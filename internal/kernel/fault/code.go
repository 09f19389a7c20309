package fault

import (
	_ "embed"
	"encoding/json"
)

// Code names a row of codes.json, for example "invalid_config". A code is never
// reused for another meaning.
type Code string

// The codes. Status, wire words and default text of each stand in codes.json.
const (
	InvalidRequest      Code = "invalid_request"
	InvalidConfig       Code = "invalid_config"
	InvalidParameter    Code = "invalid_parameter"
	UnsupportedMedia    Code = "unsupported_media"
	TooLarge            Code = "too_large"
	InlineBlocked       Code = "inline_blocked"
	Unauthenticated     Code = "unauthenticated"
	KeyExpired          Code = "key_expired"
	Forbidden           Code = "forbidden"
	FeatureOff          Code = "feature_off"
	ReferenceMissing    Code = "reference_missing"
	NotFound            Code = "not_found"
	UnknownRoute        Code = "unknown_route"
	Conflict            Code = "conflict"
	BudgetExhausted     Code = "budget_exhausted"     // of what a target uses
	KeyBudgetExhausted  Code = "key_budget_exhausted" // of the caller: its key or workspace
	ModelNotAllowed     Code = "model_not_allowed"
	ModelUnpriced       Code = "model_unpriced"
	RateLimited         Code = "rate_limited"     // of what a target uses, and of the administration
	KeyRateLimited      Code = "key_rate_limited" // of the caller: its key or workspace
	GuardrailDenied     Code = "guardrail_denied"
	NotSupported        Code = "not_supported"
	UpstreamTimeout     Code = "upstream_timeout"
	UpstreamUnreachable Code = "upstream_unreachable"
	UpstreamFailed      Code = "upstream_failed"
	UpstreamInvalid     Code = "upstream_invalid"
	SecretUnavailable   Code = "secret_unavailable"
	AddressRefused      Code = "address_refused"
	ClientGone          Code = "client_gone"
	ReadOnly            Code = "read_only"
	Overloaded          Code = "overloaded"
	Internal            Code = "internal"
)

// row is one line of codes.json.
type row struct {
	Code      Code   `json:"code"`
	Status    int    `json:"status"`
	Form      string `json:"form"`  // body on the model surfaces: plain, openai, key, inline, route
	Type      string `json:"type"`  // error.type
	Wire      string `json:"wire"`  // error.code; empty means null
	Admin     string `json:"admin"` // errorCode on the administration surface, AB01 to AB09
	Exception bool   `json:"exception"`
	Text      string `json:"text"`
}

//go:embed codes.json
var codesJSON []byte

var table = mustTable()

func mustTable() map[Code]row {
	var rows []row
	if err := json.Unmarshal(codesJSON, &rows); err != nil {
		panic("fault: codes.json: " + err.Error())
	}
	t := make(map[Code]row, len(rows))
	for _, r := range rows {
		t[r.Code] = r
	}
	return t
}

func (c Code) row() row {
	if r, ok := table[c]; ok {
		return r
	}
	return table[Internal]
}

package guardrail

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// Actions are what follows from the verdict of a guardrail.
// Source: contract/content-and-observability.yaml, GuardrailActions.
type Actions struct {
	Deny        bool     `json:"deny"`                    // a failure stops the call with status 446
	Async       bool     `json:"async"`                   // only logged, never waited for
	Sequential  bool     `json:"sequential"`              // one check after the other instead of all at once
	Stream      string   `json:"stream,omitempty"`        // how streams are judged: "window", "hold" or "report"; empty for the default (ours)
	Scope       string   `json:"scope,omitempty"`         // texts of a request: "last_message", "last_user" or "all"; empty for last_message (ours)
	SoftDeny200 bool     `json:"soft_deny_200,omitempty"` // a denial has status 200, in the shape of the endpoint's response
	OnSuccess   Reaction `json:"on_success"`
	OnFail      Reaction `json:"on_fail"`
	Message     string   `json:"message,omitempty"` // of a denial, in place of the usual one (ours)
}

// Reaction is what the gateway stores after a verdict.
type Reaction struct {
	Feedback Feedback `json:"feedback"`
}

// Feedback is stored on the trace of a request, as the feedback of people is.
type Feedback struct {
	Value    float64         `json:"value"`    // -10 to 10
	Weight   float64         `json:"weight"`   // 0 to 1
	Metadata json.RawMessage `json:"metadata"` // an object or a text; "" for none
}

// Limits of actions.
const (
	maxMessage  = 1024
	maxFeedback = 8 << 10 // bytes of the metadata
)

// defaultActions returns the actions of a guardrail that sets none: after a failure, the call continues.
func defaultActions() Actions {
	nothing := json.RawMessage(`""`)
	return Actions{OnSuccess: Reaction{Feedback{5, 1, nothing}}, OnFail: Reaction{Feedback{-5, 1, nothing}}}
}

// ReadActions reads the actions of a body. It also accepts two forms of published examples: onFail
// with block, deny, log or warn, and a single word in on_fail or on_success. Absent members have
// their defaults. The error is fault.InvalidParameter with the path of the member, for example
// "actions.on_fail.feedback.value".
func ReadActions(raw []byte) (Actions, error) {
	a := defaultActions()
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(raw, &sent); err != nil || sent == nil {
		return a, fault.New(fault.InvalidParameter, "must be an object").WithParam("actions")
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		read, ok := actionFields[name]
		if !ok {
			return a, fault.New(fault.InvalidParameter, "unknown field; must be one of deny, async, sequential, stream, scope, soft_deny_200, on_success, on_fail or message").WithParam("actions." + name)
		}
		if string(sent[name]) == "null" {
			continue
		}
		if path, text := read(&a, sent[name]); text != "" {
			return a, fault.New(fault.InvalidParameter, text).WithParam("actions." + name + path)
		}
	}
	return a, nil
}

// reader reads one field. For an invalid value it returns the path below the field, and what the value
// must be; text is empty for a valid value.
type reader func(a *Actions, raw json.RawMessage) (path, text string)

// actionFields are read in the order of their names: "deny" first, so that a word in on_fail that denies
// takes effect after it.
var actionFields = map[string]reader{
	"deny":          flag(func(a *Actions) *bool { return &a.Deny }),
	"async":         flag(func(a *Actions) *bool { return &a.Async }),
	"sequential":    flag(func(a *Actions) *bool { return &a.Sequential }),
	"stream":        word(func(a *Actions) *string { return &a.Stream }, "window", "hold", "report"),
	"scope":         word(func(a *Actions) *string { return &a.Scope }, "last_message", "last_user", "all"),
	"soft_deny_200": flag(func(a *Actions) *bool { return &a.SoftDeny200 }),
	"on_success":    reaction(func(a *Actions) *Reaction { return &a.OnSuccess }, isSuccessKeyword),
	"onSuccess":     reaction(func(a *Actions) *Reaction { return &a.OnSuccess }, isSuccessKeyword),
	"on_fail":       reaction(func(a *Actions) *Reaction { return &a.OnFail }, applyFailKeyword),
	"onFail":        reaction(func(a *Actions) *Reaction { return &a.OnFail }, applyFailKeyword),
	"message": func(a *Actions, raw json.RawMessage) (string, string) {
		if json.Unmarshal(raw, &a.Message) != nil || len(a.Message) > maxMessage {
			return "", "must be a string of at most 1024 characters"
		}
		return "", ""
	},
}

func flag(field func(*Actions) *bool) reader {
	return func(a *Actions, raw json.RawMessage) (string, string) {
		if json.Unmarshal(raw, field(a)) != nil {
			return "", "must be true or false"
		}
		return "", ""
	}
}

// word reads one of these words.
func word(field func(*Actions) *string, words ...string) reader {
	return func(a *Actions, raw json.RawMessage) (string, string) {
		if json.Unmarshal(raw, field(a)) != nil || !slices.Contains(words, *field(a)) {
			return "", "must be one of " + strings.Join(words, ", ")
		}
		return "", ""
	}
}

// isSuccessKeyword reports whether a word is an action on success. All of them let the call continue.
func isSuccessKeyword(_ *Actions, keyword string) bool {
	return slices.Contains([]string{"continue", "allow", "log", "pass", "none"}, strings.ToLower(keyword))
}

// applyFailKeyword applies an action on failure that is a single word. It returns false for an unknown one.
func applyFailKeyword(a *Actions, keyword string) bool {
	switch strings.ToLower(keyword) {
	case "block", "deny":
		a.Deny = true
	case "log", "warn", "continue", "allow", "none":
	default:
		return false
	}
	return true
}

// reaction reads an object with feedback, or a single word, which applyKeyword applies.
func reaction(field func(*Actions) *Reaction, applyKeyword func(a *Actions, keyword string) bool) reader {
	return func(a *Actions, raw json.RawMessage) (string, string) {
		var keyword string
		if json.Unmarshal(raw, &keyword) == nil {
			if !applyKeyword(a, keyword) {
				return "", "must be deny, block, log, warn or continue, or an object with feedback"
			}
			return "", ""
		}
		return readFeedback(raw, &field(a).Feedback)
	}
}

func readFeedback(raw json.RawMessage, f *Feedback) (path, text string) {
	var outer struct {
		Feedback *struct {
			Value    *float64        `json:"value"`
			Weight   *float64        `json:"weight"`
			Metadata json.RawMessage `json:"metadata"`
		} `json:"feedback"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		return "", "must be an object with feedback {value, weight, metadata}"
	}
	sent := outer.Feedback
	if sent == nil {
		return "", ""
	}
	if v := sent.Value; v != nil {
		if *v < -10 || *v > 10 {
			return ".feedback.value", "must be between -10 and 10"
		}
		f.Value = *v
	}
	if w := sent.Weight; w != nil {
		if *w < 0 || *w > 1 {
			return ".feedback.weight", "must be between 0 and 1"
		}
		f.Weight = *w
	}
	if m := sent.Metadata; len(m) > 0 && string(m) != "null" {
		if m[0] != '{' && m[0] != '"' || len(m) > maxFeedback {
			return ".feedback.metadata", "must be an object or a string of at most 8192 bytes"
		}
		f.Metadata = m
	}
	return "", ""
}

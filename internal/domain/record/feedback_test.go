package record_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		f        record.Feedback
		param    string // the field that is refused
		metadata string
	}{
		{"least", record.Feedback{TraceID: "t", Value: -10}, "", ""},
		{"most", record.Feedback{TraceID: strings.Repeat("t", 256), Value: 10, Weight: 1}, "", ""},
		{"object", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`{ "a": 1 }`)}, "", `{"a":1}`},
		{"text of an object", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`"{ \"_user\": \"ada\" }"`)}, "", `{"_user":"ada"}`},
		{"empty text", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`""`)}, "", ""},
		{"null", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`null`)}, "", ""},
		{"text of a list", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`"[1]"`)}, "metadata", ""},
		{"text of nothing", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`"null."`)}, "metadata", ""},
		{"much metadata", record.Feedback{TraceID: "t", Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", 8<<10) + `"}`)}, "metadata", ""},
		{"no trace", record.Feedback{}, "trace_id", ""},
		{"long trace", record.Feedback{TraceID: strings.Repeat("t", 257)}, "trace_id", ""},
		{"low", record.Feedback{TraceID: "t", Value: -11}, "value", ""},
		{"high", record.Feedback{TraceID: "t", Value: 11}, "value", ""},
		{"heavy", record.Feedback{TraceID: "t", Weight: 1.1}, "weight", ""},
		{"weight below nothing", record.Feedback{TraceID: "t", Weight: -0.1}, "weight", ""},
	}
	for _, tt := range tests {
		err := tt.f.Validate()
		if err != nil {
			if at := fault.From(err).Param; at != tt.param {
				t.Errorf("%s: refused at %q, want %q: %v", tt.name, at, tt.param, err)
			}
		} else if tt.param != "" || string(tt.f.Metadata) != tt.metadata {
			t.Errorf("%s: accepted with %s", tt.name, tt.f.Metadata)
		}
	}
	if w := (&record.Feedback{Value: -8, Weight: 0.25}).Weighted(); w != -2 {
		t.Errorf("-8 of weight 0.25 counts %v", w)
	}
}

// Every trace id that feedback takes fits into an index, and none stands for another.
func TestTraceEntry(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []string{"t", strings.Repeat("t", 255), strings.Repeat("t", 256), strings.Repeat("u", 256)} {
		e := record.TraceEntry(id)
		if len(e) > 255 || seen[e] {
			t.Errorf("%d bytes became %q", len(id), e)
		}
		seen[e] = true
	}
}

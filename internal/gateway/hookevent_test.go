package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// streamedEvent is an event of a stream, as a client reads it.
type streamedEvent struct {
	Name     string                     `json:"-"`
	ID       string                     `json:"id"`
	Object   string                     `json:"object"`
	Model    string                     `json:"model"`
	Type     string                     `json:"type"`
	Sequence *int                       `json:"sequence_number"`
	Choices  []any                      `json:"choices"`
	Results  map[string]json.RawMessage `json:"hook_results"`
}

// readEvents returns the events of a stream with JSON data.
func readEvents(t *testing.T, text string) []streamedEvent {
	t.Helper()
	var out []streamedEvent
	for block := range strings.SplitSeq(text, "\n\n") {
		name, data, _ := strings.Cut(block, "data: ")
		if data == "" || data == "[DONE]" {
			continue
		}
		e := streamedEvent{Name: strings.TrimSuffix(strings.TrimPrefix(name, "event: "), "\n")}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %q", err, block)
		}
		out = append(out, e)
	}
	return out
}

// checkHookEvent checks that an event with results has what official clients require of its format.
func checkHookEvent(t *testing.T, path string, list []streamedEvent, at int) {
	t.Helper()
	e := list[at]
	switch path {
	case "/v1/chat/completions", "/v1/completions":
		other := list[1]
		if e.Choices == nil || len(e.Choices) > 0 || e.ID == "" || e.ID != other.ID || e.Object != other.Object || e.Model != other.Model {
			t.Errorf("event %d is not a chunk of its stream: %+v, another %+v", at, e, other)
		}
	case "/v1/messages":
		if e.Name != "hook_results" || e.Type != "ping" {
			t.Errorf("event %d is called %q of type %q", at, e.Name, e.Type)
		}
	case "/v1/responses":
		if e.Name != "hook_results" || e.Type != "keepalive" || e.Sequence == nil || *e.Sequence != *list[at-1].Sequence {
			t.Errorf("event %d is called %q of type %q, number %v after %v", at, e.Name, e.Type, e.Sequence, list[at-1].Sequence)
		}
	}
}

// Events with results have the form that official clients require, and the first event of a response is
// response.created. The numbers of the other events stay as they were.
func TestHookEvents_AreEventsOfTheirFormat(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			for _, mode := range []string{"none", "window", "hold", "report"} {
				for outcome, word := range map[string]string{"passed": "absent", "denied": planted} {
					if mode == "none" && outcome == "denied" || mode == "report" && outcome == "denied" {
						continue
					}
					t.Run(p.name+s.path+" "+mode+" "+outcome, func(t *testing.T) {
						t.Parallel()
						r := newRig(t)
						r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, []string{before, planted, after})))
						guardrails := `"input_guardrails":[{"id":"g1","wordCount":{"minWords":1}}]`
						phases := []string{"before_request_hooks"}
						if mode != "none" {
							guardrails += fmt.Sprintf(`,"output_guardrails":[{"id":"g2","deny":true,"stream":%q,"contains":{"words":[%q],"operator":"none"}}]`, mode, word)
							phases = append(phases, "after_request_hooks")
						}
						a := r.call("POST", s.path, fmt.Sprintf(s.request, p.model), append(p.headers(r), "x-gateway-config: {"+guardrails+"}", "x-gateway-strict-open-ai-compliance: false")...)
						list := readEvents(t, a.Text)
						var shown []string
						number := 0
						for i, e := range list {
							for phase := range e.Results {
								shown = append(shown, phase)
								checkHookEvent(t, s.path, list, i)
							}
							if s.path == "/v1/responses" && e.Results == nil {
								if *e.Sequence != number {
									t.Errorf("event %d has number %d, want %d", i, *e.Sequence, number)
								}
								number++
							}
						}
						first := 0
						if s.path == "/v1/responses" {
							first = 1
						}
						if fmt.Sprint(shown) != fmt.Sprint(phases) || list[first].Results == nil {
							t.Errorf("results of %v, want %v, the first in event %d: %s", shown, phases, first, a.Text)
						}
					})
				}
			}
		}
	}
}

// A response.created that is larger than what the gateway reads before it relays a stream is still the
// first event, wherever the provider cuts it.
func TestHookEvents_FollowALargeFirstEvent(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int{"in one part": nil, "in parts": {100 << 10, 1, 50 << 10}, "cut before its end": {200<<10 - 1}} {
		for _, mode := range []string{"no output guardrail", "window", "hold"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				stream := responsesEvent(fmt.Sprintf(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-4o-mini","instructions":%q,"output":[]}}`, strings.Repeat("x", 200<<10)))
				stream += responsesEvent(`{"type":"response.completed","sequence_number":1,"response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-4o-mini","output":[]}}`)
				var parts []string
				for _, n := range sizes {
					parts, stream = append(parts, stream[:n]), stream[n:]
				}
				r.up.Handle("/v1/responses", upstream.Always(events(append(parts, stream)...)))
				guardrails := `"input_guardrails":[{"wordCount":{"minWords":1}}]`
				if mode != "no output guardrail" {
					guardrails += fmt.Sprintf(`,"output_guardrails":[{"deny":true,"stream":%q,"contains":{"words":["absent"],"operator":"none"}}]`, mode)
				}
				a := r.call("POST", "/v1/responses", `{"model":"gpt-4o-mini","stream":true,"store":false,"input":"Hi"}`, append(r.custom(), "x-gateway-config: {"+guardrails+"}", "x-gateway-strict-open-ai-compliance: false")...)
				list := readEvents(t, a.Text)
				if len(list) < 3 || list[0].Type != "response.created" || list[1].Results["before_request_hooks"] == nil || list[2].Type != "response.completed" {
					t.Fatalf("%d events: %.300s … %s", len(list), a.Text, a.Text[max(len(a.Text)-600, 0):])
				}
				checkHookEvent(t, "/v1/responses", list, 1)
			})
		}
	}
}

// Streams from the cache have the events of streams from the provider.
func TestHookEvents_OfCachedStreams(t *testing.T) {
	t.Parallel()
	for _, s := range streamingSurfaces {
		t.Run(s.path, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := &streamingProviders[0]
			r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, []string{before, after})))
			config := append(p.headers(r), `x-gateway-config: {"cache":{"mode":"simple"},"input_guardrails":[{"wordCount":{"minWords":1}}]}`, "x-gateway-strict-open-ai-compliance: false")
			body := fmt.Sprintf(s.request, p.model)
			expectStatus(t, r.call("POST", s.path, body, config...), "MISS")
			a := r.call("POST", s.path, body, config...)
			expectStatus(t, a, "HIT")
			list := readEvents(t, a.Text)
			at := 0
			if s.path == "/v1/responses" {
				at = 1
			}
			if list[at].Results["before_request_hooks"] == nil {
				t.Fatalf("event %d has no results: %s", at, a.Text)
			}
			checkHookEvent(t, s.path, list, at)
		})
	}
}

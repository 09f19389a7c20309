package gateway_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// ratings receives the feedback of hooks.
type ratings struct {
	mu   sync.Mutex // guards what follows
	list []string
}

func (r *ratings) Give(_, target string, f *record.Feedback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf("%v %s %d %v %s", target == workspace, f.TraceID, f.Value, f.Weight, f.Metadata))
}

func (r *ratings) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.list...)
}

// Hooks write their feedback to the trace of the call, also asynchronous ones.
func TestHooks_WriteTheirFeedbackToTheTrace(t *testing.T) {
	t.Parallel()
	const feedback = `"on_fail":{"feedback":{"value":-5,"weight":0.5,"metadata":{"team":"a"}}},"on_success":{"feedback":{"value":3,"weight":1}}`
	for _, hook := range []string{
		`"input_guardrails":[{"id":"g1",` + feedback + `,` + shorthandRule + `}]`,
		`"input_guardrails":[{"id":"g1","deny":true,` + feedback + `,` + shorthandRule + `}]`,
		`"input_guardrails":[{"id":"g1","async":true,` + feedback + `,` + shorthandRule + `}]`,
		`"output_guardrails":[{"id":"g1",` + feedback + `,` + shorthandRule + `}]`,
		`"output_guardrails":[{"id":"g1","async":true,` + feedback + `,` + shorthandRule + `}]`,
	} {
		for word, want := range map[string]string{
			"forbidden": `true trace-1 -5 0.5 {"erroredChecks":"","failedChecks":"default.regexMatch","successfulChecks":"","team":"a"}`,
			"harmless":  `true trace-1 3 1 {"erroredChecks":"","failedChecks":"","successfulChecks":"default.regexMatch"}`,
		} {
			r, got := newRig(t), new(ratings)
			r.gateway.Feedback = got
			r.gateway.Reassemble()
			prompt := word
			if strings.HasPrefix(hook, `"output`) {
				prompt = "fine"
				r.up.Handle("/v1/chat/completions", upstream.Always(chatResponse(word)))
			}
			r.call("POST", "/v1/chat/completions", fmt.Sprintf(textSurfaces[0].request, prompt), r.inline(hook), "x-gateway-trace-id: trace-1")
			for end := time.Now().Add(10 * time.Second); len(got.all()) == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if list := got.all(); len(list) != 1 || list[0] != want {
				t.Errorf("%s with a %s text: %q, want %s", hook, word, list, want)
			}
		}
	}
}

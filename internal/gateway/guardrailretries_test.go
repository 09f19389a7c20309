package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// chatResponse is the response of the upstream to a chat call.
func chatResponse(text string) upstream.Response {
	return upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[0].response, text)))
}

// A target that retries 246 or 446 calls its provider again after output hooks failed. Input hooks do
// not run again, and the retries of hooks and of the transport share one budget.
func TestOutputHooks_RepeatTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retry     string
		deny      bool
		responses []upstream.Response
		status    int
		calls     int
		count     string // x-gateway-retry-attempt-count
		rows      []int32
	}{
		"denied once":                 {`[446]`, true, []upstream.Response{chatResponse("forbidden"), chatResponse("fine")}, 200, 2, "1", []int32{446, 200}},
		"failed once":                 {`[246]`, false, []upstream.Response{chatResponse("forbidden"), chatResponse("fine")}, 200, 2, "1", []int32{246, 200}},
		"denied always":               {`[446]`, true, []upstream.Response{chatResponse("forbidden"), chatResponse("forbidden")}, 446, 2, "-1", []int32{446, 446}},
		"not in the list":             {`[429]`, true, []upstream.Response{chatResponse("forbidden"), chatResponse("fine")}, 446, 1, "0", []int32{446}},
		"after a retry of the status": {`[446,503]`, true, []upstream.Response{upstream.JSON(503, "{}"), chatResponse("forbidden"), chatResponse("fine")}, 446, 2, "-1", []int32{446}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.InTurn(c.responses...))
			a := r.call("POST", "/v1/chat/completions", hello, r.inline(fmt.Sprintf(
				`"retry":{"attempts":1,"on_status_codes":%s},"input_guardrails":[{"id":"in","wordCount":{"minWords":1}}],"output_guardrails":[{"id":"out","deny":%v,%s}]`, c.retry, c.deny, shorthandRule)))
			if a.StatusCode != c.status || r.up.Total() != c.calls || a.Header.Get("x-gateway-retry-attempt-count") != c.count {
				t.Errorf("%d after %d calls, count %s: %s", a.StatusCode, r.up.Total(), a.Header.Get("x-gateway-retry-attempt-count"), a.Text)
			}
			if h := a.hooks(t); len(h.Before) != 1 || len(h.After) != 1 || h.After[0].Verdict != (c.status == 200) {
				t.Errorf("results %+v", h)
			}
			for i, row := range r.journal.some(t, len(c.rows)) {
				if row.Status != c.rows[i] || !strings.Contains(row.Hooks, `"in"`) {
					t.Errorf("record %d: %d, hooks %s", i, row.Status, row.Hooks)
				}
			}
		})
	}
}

// A denial of a target lets the next one respond: by default for input and output, or by the list of
// the strategy. Each target runs its own hooks.
func TestDenial_LetsTheNextTargetRespond(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strategy, first string
		body            string
		status          int
		rows            int
	}{
		"input denial":        {`{"mode":"fallback"}`, `"input_guardrails":[{"deny":true,` + shorthandRule + `}]`, "forbidden", 200, 2},
		"output denial":       {`{"mode":"fallback"}`, `"output_guardrails":[{"deny":true,"regexMatch":{"rule":"Hello","not":true}}]`, "Hello", 200, 2},
		"246 does not":        {`{"mode":"fallback"}`, `"input_guardrails":[{"deny":false,` + shorthandRule + `}]`, "forbidden", 246, 1},
		"246 in the list":     {`{"mode":"fallback","on_status_codes":[246]}`, `"input_guardrails":[{"deny":false,` + shorthandRule + `}]`, "forbidden", 200, 2},
		"446 not in the list": {`{"mode":"fallback","on_status_codes":[500]}`, `"input_guardrails":[{"deny":true,` + shorthandRule + `}]`, "forbidden", 446, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			first := true
			r.up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
				out := chatResponse("fine")
				if first && name == "output denial" {
					out = chatResponse("Hello")
				}
				first = false
				return &out
			})
			config := `{"strategy":` + c.strategy + `,"targets":[` + r.target(c.first) + `,` + r.target("") + `]}`
			a := r.call("POST", "/v1/chat/completions", fmt.Sprintf(textSurfaces[0].request, c.body), "x-gateway-config: "+config)
			if a.StatusCode != c.status {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			r.journal.some(t, c.rows)
		})
	}
}

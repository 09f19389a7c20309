package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sluice/internal/domain/record"
)

// Requests of many kinds that are served side by side, in rooms that they take from one
// another, keep apart: each record and answer is that of its own request alone.
func TestRequestsKeepApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const callers, each = 6, 24
	kinds := []struct {
		name, method, path string
		body               func(mark string) string
		status             int
		headers            []string
	}{
		{"chat", "POST", "/v1/chat/completions", func(m string) string {
			return `{"model":"gpt-4o-mini","user":"` + m + `","messages":[{"role":"user","content":"` + m + `"}]}`
		}, 200, r.custom()},
		{"stream", "POST", "/v1/chat/completions", func(m string) string {
			return `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"` + m + `"}],"stream_options":{"include_usage":true}}`
		}, 200, r.custom()},
		{"no model", "POST", "/v1/chat/completions", func(m string) string { return `{"messages":"` + m + `"` }, 400, r.custom()},
		{"two targets", "POST", "/v1/chat/completions", func(m string) string {
			return `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + m + `"}]}`
		}, 200, []string{`x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"a","custom_host":"http://127.0.0.1:1/v1"},{"provider":"openai","api_key":"b","custom_host":"` + r.up.URL() + `/v1"}]}`}},
	}
	mark := func(caller, n int) string { return fmt.Sprintf("mark-%d-%d.", caller, n) }
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for n := range each {
				k, m := &kinds[(caller+n)%len(kinds)], mark(caller, n)
				headers := append([]string{"x-gateway-trace-id: " + m, `x-gateway-metadata: {"mark":"` + m + `"}`}, k.headers...)
				if n%3 == 0 { // some bring none, and must not be given another's
					headers = append([]string{"x-gateway-trace-id: " + m}, k.headers...)
				}
				a := r.call(k.method, k.path, k.body(m), headers...)
				if a.Err != nil || a.StatusCode != k.status || a.Header.Get("x-gateway-trace-id") != m || len(a.Header.Values("x-gateway-trace-id")) != 1 {
					t.Errorf("%s %s: %d %v %v", k.name, m, a.StatusCode, a.Header, a.Err)
				}
			}
		})
	}
	all.Wait()

	seen := map[string][]record.Attempt{}
	for _, a := range r.journal.all() {
		seen[a.TraceID] = append(seen[a.TraceID], a)
	}
	for caller := range callers {
		for n := range each {
			k, m := &kinds[(caller+n)%len(kinds)], mark(caller, n)
			rows := seen[m]
			if want := 1 + strings.Count(k.name, "two"); len(rows) != want {
				t.Errorf("%s %s has %d records, want %d", k.name, m, len(rows), want)
				continue
			}
			for i, a := range rows {
				sent := strings.ReplaceAll(k.body(m), m, "")
				if got := string(a.Request.Bytes); k.status == http.StatusOK && strings.ReplaceAll(got, m, "") != sent || strings.Count(got, "mark-") != strings.Count(got, m) {
					t.Errorf("%s %s: its body is %q", k.name, m, a.Request.Bytes)
				}
				if got := a.Metadata["mark"]; got != m && n%3 != 0 || got != "" && n%3 == 0 {
					t.Errorf("%s %s: its metadata is %v", k.name, m, a.Metadata)
				}
				if failed := i == 0 && len(rows) == 2; failed != (a.Outcome == record.Unreachable) || a.Number != int32(i) {
					t.Errorf("%s %s: record %d is %+v", k.name, m, i, a.Outcome)
				}
				if (a.Status == http.StatusOK) != (a.Error == "") {
					t.Errorf("%s %s: status %d with the error %q", k.name, m, a.Status, a.Error)
				}
			}
		}
	}
}

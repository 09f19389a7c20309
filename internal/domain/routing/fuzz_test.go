package routing_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

// FuzzParse checks that every document is either refused with a path for each
// mistake, or gives a config that can be walked and holds its values verbatim.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{
		`{"provider":"openai","api_key":"sk-1","overrideParams":{"max_tokens": 1.0,"a":{"bC":[null,""]}}}`,
		branch(`{"mode":"fallback","on_status_codes":[429]}`, three),
		branch(`{"mode":"loadbalance","policy":"least_busy","sticky":{"enabled":true,"hash_fields":["metadata.u"],"ttl":60}}`, two),
		branch(`{"mode":"conditional","conditions":[{"query":{"$or":[{"params.a":{"$regex":"^x+$","$nin":[1]}},{"metadata.b":{"$gte":"1"}}]},"then":"a"}],"default":"b"}`, two),
		branch(`{"mode":"single","cb_config":{"failure_threshold":1,"cooldown_interval":30000,"failure_threshold_percentage":1.5}}`, `[`+branch(`{"mode":"fallback"}`, two)+`]`),
		`{"retry":{"attempts":9,"onStatusCodes":[500]},"cache":{"mode":"semantic","max_age":60},"request_timeout":1000,"custom_host":"https://h/v1"}`,
		`{"input_guardrails":["pg-x",{"wordCount":{"id":"x"},"deny":true,"on_fail":{"feedback":{"value":1,"metadata":{}}}}],"after_request_hooks":[{"id":"h","checks":[{"id":"a.b"}]}]}`,
		`{"provider":"vertex-ai","vertex_region":"x","vertex_service_account_json":{"a":1},"forward_headers":["X-A"],"drop_params":["a[*].b"]}`,
		`{"deployments":[{"deployment_id":"a","alias":"b","api_version":"c"}],"weight":1e9,"a\u0000":{"a":1,"a":2}}`,
		`{"x":"\`, `[[[[`, strings.Repeat("[", 40), "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		cfg, err := routing.Parse(doc, routing.Limits{})
		if err != nil {
			e := fault.From(err)
			if e.Code != fault.InvalidConfig || e.Param == "" || len(e.Details) == 0 || len(e.Details) > 20 {
				t.Fatalf("%q: %#v", doc, e)
			}
			return
		}
		if !json.Valid(doc) || len(cfg.Leaves()) == 0 {
			t.Fatalf("%q was accepted", doc)
		}
		for _, l := range cfg.Leaves() {
			for _, p := range append(l.Override, l.Default...) {
				if !json.Valid(p.Raw) || !strings.Contains(string(doc), string(p.Raw)) {
					t.Fatalf("%q: %s is not as it was: %s", doc, p.Key, p.Raw)
				}
			}
		}
		e := routing.NewEngine(newClock(), draws(0.5))
		out, err := e.Walk(context.Background(), cfg, "s", nil, func(_ context.Context, target *routing.Target) routing.Outcome {
			if !strings.HasPrefix(target.Path, "config") {
				t.Fatalf("path %q", target.Path)
			}
			return routing.Outcome{Status: 500}
		})
		if (err != nil) != (out.Status == 400) {
			t.Fatalf("%q: %+v, %v", doc, out, err)
		}
	})
}

func FuzzForwardHeaders(f *testing.F) {
	for _, v := range []string{"X-A, x-b", `["X-A", 'x-b']`, "", ",,", "x-gateway-forward-headers", "a b", "[x"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		names, err := routing.ForwardHeaders(v)
		if err != nil && !fault.Has(err, fault.InvalidRequest) {
			t.Fatal(err)
		}
		for _, n := range names {
			if n == "" || n != strings.ToLower(n) || strings.ContainsAny(n, " ,\r\n\"") {
				t.Fatalf("%q gives %q", v, n)
			}
		}
	})
}

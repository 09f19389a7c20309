package gemini

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// How a call shall be served is said in the body to Gemini and in a header to Vertex AI; what
// Google has no word for is lost.
func TestTiersAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, body, header string
		dropped           []string
	}{
		{`"flex"`, `"serviceTier":"flex"`, "flex", nil},
		{`"priority"`, `"serviceTier":"priority"`, "priority", nil},
		{`"default"`, `"serviceTier":"standard"`, "", nil},
		{`"standard_only"`, `"serviceTier":"standard"`, "", nil},
		{`"auto"`, "", "", nil},
		{`"scale"`, "", "", []string{"service_tier"}},
	} {
		for _, vertex := range []bool{false, true} {
			call := &llm.Call{Surface: llm.ChatComplete, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}}}}}
			call.Params = []llm.Param{{Name: "service_tier", From: "service_tier", Raw: []byte(c.raw)}}
			out, err := generate{vertex}.EncodeCall(t.Context(), call, &dialect.Target{Model: "gemini-3-pro"})
			if err != nil {
				t.Fatal(err)
			}
			body, header := c.body, ""
			if vertex {
				body, header = "", c.header
			}
			if got := out.Header.Get(sharedHeader); got != header || strings.Contains(string(out.Body), "serviceTier") != (body != "") || !strings.Contains(string(out.Body), body) || !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("%s, vertex %v: %q, lost %q, %s", c.raw, vertex, got, out.Dropped, out.Body)
			}
		}
	}
}

// How a call was served stands in the usage, or in a header of the answer.
func TestTiersAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ usage, header, want, wantExtra string }{
		{`,"trafficType":"ON_DEMAND_FLEX"`, "", "flex", `"flex"`},
		{`,"trafficType":"ON_DEMAND_PRIORITY"`, "", "priority", `"priority"`},
		{`,"trafficType":"ON_DEMAND"`, "", llm.UsualTier, `"default"`},
		{`,"trafficType":"PROVISIONED_THROUGHPUT"`, "", "", ""},
		{`,"serviceTier":"flex"`, "standard", "flex", `"flex"`},
		{"", "standard", llm.UsualTier, `"default"`},
		{"", "priority", "priority", `"priority"`},
		{"", "", "", ""},
	} {
		body := []byte(`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3` + c.usage + `}}`)
		incoming := &dialect.Incoming{Body: body}
		if c.header != "" {
			incoming.Header = wire.Header{{Name: tierHeader, Value: c.header}}
		}
		r, err := generate{}.DecodeResponse(incoming)
		if err != nil {
			t.Fatal(err)
		}
		gotExtra := ""
		for _, p := range r.Extra {
			if p.Name == "service_tier" {
				gotExtra = string(p.Raw)
			}
		}
		if r.Usage.Tier != c.want || gotExtra != c.wantExtra {
			t.Errorf("%s %q: tier %q, told %s", c.usage, c.header, r.Usage.Tier, gotExtra)
		}
		events, err := dialecttest.Read(generate{}.NewDecoder(incoming), []byte("data: "+string(body)+"\n\n"))
		if err != nil {
			t.Fatal(err)
		}
		if u := dialecttest.ResponseOf(events).Usage; u.Tier != c.want {
			t.Errorf("%s %q: tier %q in a stream", c.usage, c.header, u.Tier)
		}
		if u, _ := usage.Read(llm.Proxy, body, ""); c.header == "" && u.Tier != c.want {
			t.Errorf("%s: tier %q when passed through", c.usage, u.Tier)
		}
	}
}

package check_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
)

func request(e llm.Endpoint, metadata map[string]string) check.Input {
	return check.Input{Endpoint: e, Metadata: metadata}
}

func TestAllowedRequestTypes_BlockBeforeTheyAllow(t *testing.T) {
	t.Parallel()
	runRequests(t, "default.allowedRequestTypes", []requestCase{
		{"in the allow list", `{"allowedTypes":["chatComplete","embed"]}`, request(llm.Embed, nil), true, "", `{"requestType":"embed","blockedTypes":[]}`},
		{"not in the allow list", `{"allowedTypes":["chatComplete"]}`, request(llm.Embed, nil), false, "", `{"explanation":"the request type is not in the allow list"}`},
		{"blocked", `{"blockedTypes":["embed"]}`, request(llm.Embed, nil), false, "", `{"explanation":"the request type is blocked"}`},
		{"not blocked", `{"blockedTypes":["embed"]}`, request(llm.Proxy, nil), true, "", ""},
		{"separated by commas", `{"allowedTypes":"chatComplete, embed"}`, request(llm.Embed, nil), true, "", `{"allowedTypes":["chatComplete","embed"]}`},
		{"no list", `{}`, request(llm.Embed, nil), true, "", ""},
		{"empty lists", `{"allowedTypes":[],"blockedTypes":""}`, request(llm.Embed, nil), true, "", ""},
		{"allow list of the metadata", `{}`, request(llm.Embed, map[string]string{"supported_endpoints": "chatComplete"}), false, "", ""},
		{"allow list of the metadata as JSON", `{}`, request(llm.Embed, map[string]string{"supported_endpoints": `["embed"]`}), true, "", ""},
		{"block list of the metadata", `{}`, request(llm.Embed, map[string]string{"blocked_endpoints": "embed,proxy"}), false, "", ""},
		{"metadata do not widen a parameter", `{"allowedTypes":["chatComplete"]}`, request(llm.Embed, map[string]string{"supported_endpoints": "embed"}), false, "", ""},
		{"overlap with the metadata is an error", `{"allowedTypes":["embed"]}`, request(llm.Embed, map[string]string{"blocked_endpoints": "embed"}), false, "allowed and blocked", ""},
	})
	runRefusals(t, "default.allowedRequestTypes", refusals{`{"allowedTypes":[1]}`: ".allowedTypes[0]: a string"})
	refuse(t, "default.allowedRequestTypes", `{"allowedTypes":["embed"],"blockedTypes":"proxy,embed"}`, "blockedTypes must not contain embed")
}

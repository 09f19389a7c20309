package gateway_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// manyTools is a call with nested schemas, and with tools of functions, a grammar, a search and a config.
// Its placeholder is the model.
const manyTools = `{"model":%q,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Plan a trip."}]},` +
	`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"search.flights","arguments":"{\"to\":\"OSL\",\"from\":\"BER\",\"n\":{\"z\":1,\"a\":[2,{\"y\":3,\"x\":4}]}}"}},{"id":"c2","type":"function","function":{"name":"hotels","arguments":"{}"}}]},` +
	`{"role":"tool","tool_call_id":"c1","content":"{\"b\":1,\"a\":2}"},{"role":"tool","tool_call_id":"c2","content":"none"}],` +
	`"tools":[` +
	`{"type":"function","function":{"name":"search.flights","description":"Finds flights.","parameters":{"type":"object","$defs":{"place":{"type":"object","properties":{"zip":{"type":"string","pattern":"^[0-9]+$"},"city":{"type":"string"},"geo":{"$ref":"#/$defs/geo"}},"required":["zip","city"]},"geo":{"type":"object","properties":{"lon":{"type":"number","minimum":-180,"maximum":180},"lat":{"type":"number"},"alt":{"anyOf":[{"type":"number"},{"type":"null"}]}}}},` +
	`"properties":{"to":{"$ref":"#/$defs/place"},"from":{"allOf":[{"$ref":"#/$defs/place"},{"description":"start"}]},"class":{"enum":["y","b","a"],"type":"string"},"n":{"type":["object","null"],"additionalProperties":{"type":"array","items":{"oneOf":[{"type":"string"},{"type":"object","properties":{"q":{},"p":{"const":7}}}]}}}},"required":["to","from"],"additionalProperties":false},"strict":true}},` +
	`{"type":"function","function":{"name":"hotels","parameters":{"type":"object","properties":{"z":{"type":"string","default":"q"},"y":{"type":"integer","format":"int32"},"x":{"type":"array","items":{"type":"object","properties":{"b":{"type":"boolean"},"a":{"type":"string","title":"A"}}}}}}}},` +
	`{"type":"custom","custom":{"name":"calendar","description":"A date","format":{"type":"text"}}},` +
	`{"type":"function","function":{"name":"none"}}],"parallel_tool_calls":true,"tool_choice":"auto","metadata":{"z":"1","a":"2","m":"3"},"logit_bias":{"9":1,"1":2},"stop":["x","y"],"temperature":0.3,` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":{"type":"object","properties":{"days":{"type":"array","items":{"type":"object","properties":{"y":{"type":"string"},"x":{"type":"string"}}}},"cost":{"type":"number"}},"required":["days"]}}}}`

// translatedProviders receive manyTools in their own formats.
var translatedProviders = []struct{ name, target, model, path, response string }{
	{"anthropic", promptCaches[4].target, "claude-sonnet-4-5", "/v1/messages", fmt.Sprintf(messageWithCache, 0, 0)},
	{"google", promptCaches[1].target, "gemini-2.5-flash", promptCaches[1].path, fmt.Sprintf(promptCaches[1].response, 0, 0)},
	{"bedrock", bedrockTarget, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse", fmt.Sprintf(promptCaches[2].response, 0, 0)},
}

// sameBytesConfig adds parameters of a config to each call, and requests both caches.
const sameBytesConfig = promptCacheAuto + `,"cache":{"mode":"simple"},"default_params":{"top_p":0.5,"user":"u","seed":7},"override_params":{"max_tokens":64,"x_z":{"b":1,"a":2},"x_a":1}`

// sameBytesHeaders are those of each call.
func (r *rig) sameBytesHeaders(target string) []string {
	return []string{r.promptConfig(target + sameBytesConfig), "x-gateway-cache-force-refresh: true", "x-gateway-strict-params: false", `x-gateway-metadata: {"z":"1","a":"2","m":"3"}`}
}

// One call that is sent 1,000 times has the same upstream bytes and the same cache key each time.
func TestTranslation_WritesTheSameBytesEachTime(t *testing.T) {
	t.Parallel()
	calls := 1000
	if testing.Short() {
		calls = 50
	}
	for _, p := range translatedProviders {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(p.response))))
			body, headers := fmt.Sprintf(manyTools, p.model), r.sameBytesHeaders(p.target)
			r.repeat(calls, "/v1/chat/completions", body, headers...)
			first := r.up.Seen()[0].Body
			for i, s := range r.up.Seen() {
				if !bytes.Equal(s.Body, first) {
					t.Fatalf("call %d sent\n%s\ninstead of\n%s", i, s.Body, first)
				}
			}
			rows := r.journal.some(t, calls)
			for i := range rows {
				if rows[i].Lookup != rows[0].Lookup || rows[i].PromptCache != rows[0].PromptCache {
					t.Fatalf("call %d is recorded as %s, %s, the first as %s, %s", i, rows[i].Lookup, rows[i].PromptCache, rows[0].Lookup, rows[0].PromptCache)
				}
			}
		})
	}
}

// repeat sends a call n times over one connection. Each must succeed.
func (r *rig) repeat(n int, path, body string, headers ...string) {
	r.t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	r.t.Cleanup(client.CloseIdleConnections)
	for range n {
		req, err := http.NewRequest("POST", r.server.URL+path, strings.NewReader(body))
		if err != nil {
			r.t.Fatal(err)
		}
		req.Header.Set("x-gateway-api-key", key)
		req.Header.Set("content-type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		resp, err := client.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 {
			r.t.Fatal(resp.StatusCode, string(text))
		}
	}
}

// digestsOnly makes a test process print digests of upstream bodies and cache keys.
const digestsOnly = "SLUICE_TEST_PRINT_DIGESTS"

// closedPort is an address without a server, so that the cache key, which contains the address, is the
// same in all processes.
const closedPort = "http://127.0.0.1:9"

// digests returns a line with the upstream body and the cache key for each provider.
func digests(t *testing.T) string {
	var out strings.Builder
	r := newRig(t)
	for i, p := range translatedProviders {
		headers := r.sameBytesHeaders(strings.ReplaceAll(p.target, "HOST", closedPort))
		r.call("POST", "/v1/chat/completions", fmt.Sprintf(manyTools, p.model), headers...)
		row := r.journal.some(t, i+1)[i]
		var lookup struct{ Key string }
		if err := json.Unmarshal([]byte(row.Lookup), &lookup); err != nil || lookup.Key == "" || len(row.Request.Bytes) == 0 {
			t.Fatalf("%s: record %q, %q, %s", p.name, row.Lookup, row.Error, row.Request.Bytes)
		}
		fmt.Fprintf(&out, "%s %x %s\n", p.name, sha256.Sum256(row.Request.Bytes), lookup.Key)
	}
	return out.String()
}

// Another process writes the same upstream bytes and computes the same cache keys.
func TestTranslation_WritesTheSameBytesInAnotherProcess(t *testing.T) {
	t.Parallel()
	here := digests(t)
	if os.Getenv(digestsOnly) != "" {
		fmt.Printf("\n%s", here)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTranslation_WritesTheSameBytesInAnotherProcess$")
	cmd.Env = append(os.Environ(), digestsOnly+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "\n"+here) {
		t.Errorf("the other process printed\n%s\nand this one\n%s", out, here)
	}
}

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/test/upstream"
)

// statusDenied and statusFailed are the statuses of a denied call and of a call with a failed
// guardrail that denies nothing.
const (
	statusDenied = 446
	statusFailed = 246
)

// saveGuardrail stores a guardrail with one check in the workspace and returns its slug.
func (g *gateway) saveGuardrail(slug, check string, parameters, actions object) string {
	g.t.Helper()
	return g.do(g.key, "POST", "/v1/guardrails", object{
		"name": slug, "slug": slug, "checks": []object{{"id": check, "parameters": parameters}}, "actions": actions,
	}).get("slug").String()
}

// namedCheck is a call under one saved guardrail that denies.
type namedCheck struct {
	name       string
	check      string
	parameters object
	path       string // "/v1/chat/completions" if empty
	body       string // hello if empty
	headers    []string
	status     int
	sent       map[string]string // values of the body that reached the provider, by gjson path
	response   map[string]string // values of the response, by gjson path
}

var pairs = object{"metadataPairs": object{"team": "search", "stage": "production"}, "operator": "all"}

var someParameters = object{
	"tools":  object{"blockedFunctionNames": []string{"delete_everything"}},
	"params": object{"blockedKeys": []string{"logit_bias"}, "values": object{"temperature": object{"allowedValues": []float64{0, 1}}}},
}

// withTool is a call that offers a tool.
func withTool(name string) string {
	return strings.Replace(hello, `{`, `{"tools":[{"type":"function","function":{"name":"`+name+`","parameters":{"type":"object"}}}],`, 1)
}

// withMember is a call with one more member.
func withMember(member string) string { return strings.Replace(hello, `{`, `{`+member+`,`, 1) }

var namedChecks = []namedCheck{
	{name: "metadata with the pairs", check: "default.requiredMetadataKeyPairs", parameters: pairs, headers: []string{`x-gateway-metadata: {"team":"search","stage":"production"}`}, status: 200},
	{name: "metadata with another value", check: "default.requiredMetadataKeyPairs", parameters: pairs, headers: []string{`x-gateway-metadata: {"team":"search","stage":"test"}`}, status: statusDenied,
		response: map[string]string{"hook_results.before_request_hooks.0.checks.0.id": "default.requiredMetadataKeyPairs", "hook_results.before_request_hooks.0.checks.0.verdict": "false"}},
	{name: "no metadata", check: "default.requiredMetadataKeyPairs", parameters: pairs, status: statusDenied},
	{name: "a pair by expression", check: "default.requiredMetadataKeyPairs", parameters: object{"metadataPairs": object{"team": "^sea"}, "matchType": "regex"}, headers: []string{`x-gateway-metadata: {"team":"search"}`}, status: 200},

	{name: "parameters by the rules", check: "default.requestParametersCheck", parameters: someParameters, body: withTool("get_weather"), status: 200},
	{name: "a blocked parameter", check: "default.requestParametersCheck", parameters: someParameters, body: withMember(`"logit_bias":{}`), status: statusDenied},
	{name: "a value that is not allowed", check: "default.requestParametersCheck", parameters: someParameters, body: withMember(`"temperature":0.5`), status: statusDenied},
	{name: "a blocked tool", check: "default.requestParametersCheck", parameters: someParameters, body: withTool("delete_everything"), status: statusDenied},

	{name: "a prefix of the user's message", check: "default.addPrefix", parameters: object{"prefix": "In short: "}, status: 200,
		sent: map[string]string{"messages.0.role": "user", "messages.0.content": "In short: Hello there", "messages.#": "1"}},
	{name: "a prefix as a new message", check: "default.addPrefix", parameters: object{"prefix": "Be brief.", "applyToRole": "system"}, status: 200,
		sent: map[string]string{"messages.0.role": "system", "messages.0.content": "Be brief.", "messages.1.content": "Hello there"}},

	{name: "an allowed type of request", check: "default.allowedRequestTypes", parameters: object{"allowedTypes": []string{"chatComplete", "embed"}}, status: 200},
	{name: "a type that is not allowed", check: "default.allowedRequestTypes", parameters: object{"allowedTypes": []string{"embed"}}, status: statusDenied},
	{name: "a blocked type", check: "default.allowedRequestTypes", parameters: object{"blockedTypes": "createModelResponse"}, path: "/v1/responses", body: `{"model":"gpt-4o-mini","store":false,"input":"Hello there"}`, status: statusDenied},
}

// The checks that the specification names, each as an operator uses it: saved, named by a saved config,
// and in force on the next call.
func TestGuardrailChecksByName(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.saveProvider("main", up)
	for i, c := range namedChecks {
		t.Run(c.name, func(t *testing.T) {
			slug := g.saveGuardrail(fmt.Sprintf("pg-named-%d", i), c.check, c.parameters, object{"deny": true})
			config := g.saveConfig(c.name, `{"provider":"@main","input_guardrails":["`+slug+`"]}`)
			c.expect(t, g, up, config)
		})
	}
	t.Run("inline images", func(t *testing.T) { inlineImages(t, g, up) })
	t.Run("partner", func(t *testing.T) { partnerCheck(t, g, up) })
	t.Run("refused when saved", func(t *testing.T) { refusedGuardrails(t, g) })
}

// expect makes the call under a config.
func (c *namedCheck) expect(t *testing.T, g *gateway, up *upstream.Server, config string) {
	t.Helper()
	path, body, before := c.path, c.body, up.Total()
	if path == "" {
		path = "/v1/chat/completions"
	}
	if body == "" {
		body = hello
	}
	a := g.call("POST", path, body, append(c.headers, "x-gateway-config: "+config)...).want(t, c.status)
	for path, want := range c.response {
		if got := a.get(path).String(); got != want {
			t.Errorf("%s is %q, want %q: %s", path, got, want, a.Body)
		}
	}
	if sent := up.Total() - before; (sent == 1) != (c.status == 200) {
		t.Fatalf("%d calls reached the provider", sent)
	}
	if len(c.sent) == 0 {
		return
	}
	seen := up.Seen()
	for path, want := range c.sent {
		if got := gjsonText(seen[len(seen)-1].Body, path); got != want {
			t.Errorf("%s of the sent body is %q, want %q: %s", path, got, want, seen[len(seen)-1].Body)
		}
	}
}

// onePixel is the beginning of a PNG file, which is all that the gateway looks at.
const onePixel = "\x89PNG\r\n\x1a\n and the rest"

// inlineImages has the gateway fetch images: an image of a trusted host goes to the provider as data, and a
// private address that is not trusted is never called.
func inlineImages(t *testing.T, g *gateway, up *upstream.Server) {
	var fetched atomic.Int64
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		if r.URL.Path != "/picture.png" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, onePixel)
	}))
	t.Cleanup(images.Close)
	private := strings.Replace(images.URL, "127.0.0.1", "localhost", 1) // only 127.0.0.1 is trusted
	lax := g.saveGuardrail("pg-images", "default.inlineImageUrls", object{"timeoutMs": 20_000}, object{"deny": true})
	strict := g.saveGuardrail("pg-images-strict", "default.inlineImageUrls", object{"failOnError": true}, object{"deny": true})
	const data = "data:image/png;base64,iVBORw0KGgogYW5kIHRoZSByZXN0"
	for _, c := range []struct {
		name, guardrail, url, sent string
		status                     int
		fetched                    int64
	}{
		{"a picture", lax, images.URL + "/picture.png", data, 200, 1},
		{"a picture that has to be there", strict, images.URL + "/picture.png", data, 200, 1},
		{"no picture", lax, images.URL + "/nothing.png", images.URL + "/nothing.png", 200, 1},
		{"no picture where there has to be one", strict, images.URL + "/nothing.png", "", statusDenied, 1},
		{"a private address", lax, private + "/picture.png", private + "/picture.png", 200, 0},
		{"a private address where a picture has to be", strict, private + "/picture.png", "", statusDenied, 0},
		{"metadata of a cloud", strict, "http://169.254.169.254/picture.png", "", statusDenied, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, calls := fetched.Load(), up.Total()
			body := jsonText(object{"model": "gpt-4o-mini", "messages": []object{{"role": "user", "content": []object{
				{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": object{"url": c.url}},
			}}}})
			a := g.call("POST", "/v1/chat/completions", body, `x-gateway-config: {"provider":"@main","input_guardrails":["`+c.guardrail+`"]}`).want(t, c.status)
			if n := fetched.Load() - before; n != c.fetched {
				t.Errorf("%d fetches, want %d: %s", n, c.fetched, a.Body)
			}
			if c.sent == "" {
				if n := up.Total() - calls; n != 0 {
					t.Errorf("%d calls reached the provider", n)
				}
				return
			}
			seen := up.Seen()
			if got := gjsonText(seen[len(seen)-1].Body, "messages.0.content.1.image_url.url"); got != c.sent {
				t.Errorf("the provider was sent %q", got)
			}
		})
	}
}

// partnerService is a service with Zscaler's interface that blocks a word and hangs on another.
func partnerService(t *testing.T) *upstream.Server {
	t.Helper()
	service := upstream.Start(t)
	service.Handle("/v1/detection/execute-policy", func(s upstream.Seen) *upstream.Response {
		text, action := gjsonText(s.Body, "content"), "ALLOW"
		if strings.Contains(text, "forbidden") {
			action = "BLOCK"
		}
		r := upstream.JSON(200, object{"statusCode": 200, "action": action, "detectorResponses": object{}})
		if strings.Contains(text, "slow") {
			r = service.Fault("hang", s)
		}
		return &r
	})
	return service
}

// partnerCheck runs Zscaler's check: its policy and address are those of the guardrail, its timeout ends
// a call that hangs, and its credential is shown nowhere.
func partnerCheck(t *testing.T, g *gateway, up *upstream.Server) {
	service := partnerService(t)
	save := func(slug, address string, more object) string {
		parameters := object{"policyId": "760", "credentials": object{"apiKey": "s3cr3t-of-the-partner", "baseUrl": address}}
		maps.Copy(parameters, more)
		return g.saveGuardrail(slug, "zscaler.executePolicy", parameters, object{"deny": true})
	}
	patient := save("pg-partner", service.URL(), nil)
	closed := save("pg-partner-closed", service.URL(), object{"timeout": 100, "failOnError": true})
	open := save("pg-partner-open", service.URL(), object{"timeout": 100})
	for _, c := range []struct {
		guardrail, text, failure string
		status                   int
	}{
		{patient, "harmless", "", 200},
		{patient, "forbidden", "", statusDenied},
		{closed, "slow", "TimeoutError", statusDenied},
		{open, "slow", "TimeoutError", 200},
	} {
		t.Run(c.guardrail+" "+c.text, func(t *testing.T) {
			before, checked := up.Total(), service.Total()
			a := g.call("POST", "/v1/chat/completions", strings.Replace(hello, "Hello there", c.text, 1), `x-gateway-config: {"provider":"@main","input_guardrails":["`+c.guardrail+`"]}`).want(t, c.status)
			if got := a.get("hook_results.before_request_hooks.0.checks.0.error.name").String(); got != c.failure {
				t.Errorf("the error of the check is %q: %s", got, a.Body)
			}
			if sent := up.Total() - before; (sent == 1) != (c.status == 200) {
				t.Errorf("%d calls reached the provider", sent)
			}
			if n := service.Total() - checked; n != 1 {
				t.Errorf("%d calls reached the service", n)
			}
		})
	}
	first := service.Seen()[0]
	if first.Get("authorization") != "Bearer s3cr3t-of-the-partner" || gjsonText(first.Body, "policyId") != "760" || gjsonText(first.Body, "direction") != "IN" {
		t.Errorf("the service was sent\n%s%s", first.Head, first.Body)
	}
	if shown := g.call("GET", "/v1/guardrails/"+patient, "").want(t, 200); strings.Contains(shown.Body, "s3cr3t") {
		t.Errorf("the credential is shown: %s", shown.Body)
	}
	wantNowhere(t, g, "s3cr3t-of-the-partner", "pg-partner-closed")
}

// privatePolicy are parameters of Zscaler's check with a private address; only 127.0.0.1 is trusted.
const privatePolicy = `{"policyId":"1","credentials":{"apiKey":"k","baseUrl":"http://localhost:8080"}}`

// refusedGuardrails are guardrails and configs that cannot work. The error names the field.
func refusedGuardrails(t *testing.T, g *gateway) {
	for _, c := range []struct {
		path, body, want string
		status           int
	}{
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"default.nothing"}],"actions":{}}`, "checks[0].id", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"zscaler.executePolicy","parameters":{"credentials":{"apiKey":"k"}}}],"actions":{}}`, "checks[0].parameters.policyId", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"zscaler.executePolicy","parameters":{"policyId":"1","timeout":0,"credentials":{"apiKey":"k"}}}],"actions":{}}`, "checks[0].parameters.timeout", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"singulr.*"}],"actions":{}}`, "singulr cannot run", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"default.webhook","parameters":{"webhookURL":"http://10.0.0.1/hook"}}],"actions":{}}`, "checks[0].parameters.webhookURL", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"zscaler.executePolicy","parameters":` + privatePolicy + `}],"actions":{}}`, "checks[0].parameters.credentials.baseUrl", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"akto.scan","parameters":{"credentials":{"apiKey":"k","apiDomain":"169.254.169.254"}}}],"actions":{}}`, "checks[0].parameters.credentials.apiDomain", 400},
		{"/v1/configs", `{"name":"a","config":{"provider":"@main","before_request_hooks":[{"id":"h","type":"guardrail","checks":[{"id":"zscaler.executePolicy","parameters":` + privatePolicy + `}]}]}}`, "before_request_hooks[0].checks[0].parameters.credentials.baseUrl", 400},
		{"/v1/configs", `{"name":"a","config":{"provider":"@main","output_guardrails":[{"zscaler.executePolicy":` + privatePolicy + `}]}}`, "output_guardrails[0].zscaler.executePolicy.credentials.baseUrl", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"default.regexMatch","parameters":{"rule":"(a)\\1"}}],"actions":{}}`, "checks[0].parameters", 400},
		{"/v1/guardrails", `{"name":"a","checks":[{"id":"default.allowedRequestTypes","parameters":{"allowedTypes":["embed"],"blockedTypes":["embed"]}}],"actions":{}}`, "blockedTypes", 400},
		{"/v1/configs", `{"name":"a","config":{"provider":"@main","input_guardrails":["pg-nowhere"]}}`, "pg-nowhere", 404},
		{"/v1/configs", `{"name":"a","config":{"provider":"@main","output_guardrails":[{"wordCount":{"maxWords":-1}}]}}`, "output_guardrails[0].wordCount.maxWords", 400},
	} {
		if a := g.call("POST", c.path, c.body); a.Status != c.status || !strings.Contains(a.Body, strings.ReplaceAll(c.want, `"`, `\"`)) {
			t.Errorf("%s: %d %s, want %d %s", c.body, a.Status, a.Body, c.status, c.want)
		}
	}
	inline := `x-gateway-config: {"provider":"@main","input_guardrails":[{"deny":true,"zscaler.executePolicy":` + privatePolicy + `}]}`
	if a := g.call("POST", "/v1/chat/completions", hello, inline); a.Status != 400 || !strings.Contains(a.Body, "input_guardrails[0].zscaler.executePolicy.credentials.baseUrl") {
		t.Errorf("an inline config with a private address: %d %s", a.Status, a.Body)
	}
}

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/domain/prompt"
	"sluice/internal/test/upstream"
)

var exchange = regexp.MustCompile("(?s)```http\n(\\w+) (\\S+)\n(.*?)```")

// The calls of the manual, one after the other, work as they stand: a prompt is made,
// published, labelled and run. Names in braces are what the answers before said.
func TestManualOfPrompts(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	up := upstream.Start(t)
	g := start(t)
	g.saveAddress("openai-main", up.URL()+"/v1")
	org := g.call("GET", "/v1/labels", "").want(t, 200).get("data.0.organisation_id").String()
	variables := map[string]string{"label": prompt.UniversalID(org, "staging")}
	calls := exchange.FindAllStringSubmatch(string(manual), -1)
	if len(calls) < 8 {
		t.Fatalf("the manual has %d calls", len(calls))
	}
	for _, c := range calls {
		method, path, body := c[1], c[2], c[3]
		for name, value := range variables {
			path, body = strings.ReplaceAll(path, "{"+name+"}", value), strings.ReplaceAll(body, "{"+name+"}", value)
		}
		a := g.call(method, path, body)
		if a.Status != 200 {
			t.Fatalf("%s %s\n%s\n%d %s", method, path, body, a.Status, a.Body)
		}
		if slug := a.get("slug").String(); slug != "" {
			variables[a.get("object").String()] = slug
		}
		if id := a.get("prompt_version_id").String(); id != "" {
			variables["version"] = id
		}
	}
	var models []string
	for _, s := range up.Seen() {
		models = append(models, gjsonText(s.Body, "model")+" "+gjsonText(s.Body, "messages.0.content"))
	}
	want := "gpt-4o Answer in a calm voice.|gpt-5 Answer in a calm voice.|gpt-5 Answer in a calm voice."
	if got := strings.Join(models, "|"); got != want {
		t.Errorf("the provider was sent %s", got)
	}
}

// A prompt runs as a stream and through a fallback whose targets run prompts of their
// own; the log says which.
func TestPromptsInTheLog(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.saveAddress("peer", up.URL()+"/v1")
	collection := g.call("GET", "/v1/collections", "").want(t, 200).get("data.0.id").String()
	save := func(name, model string) (slug, id, version string) {
		a := g.do(g.key, "POST", "/v1/prompts", object{
			"name": name, "collection_id": collection, "virtual_key": "peer", "model": model, "parameters": object{"temperature": 0},
			"string": `[{"role":"user","content":"Hello {{name}}"}]`,
		})
		return a.get("slug").String(), a.get("id").String(), a.get("version_id").String()
	}
	first, _, _ := save("First", "fault:status@500")
	second, id, version := save("Second", "gpt-4o-mini")

	a := g.call("POST", "/v1/prompts/"+second+"/completions", `{"variables":{"name":"there"},"stream":true}`).want(t, 200)
	if !strings.Contains(a.Body, "data: [DONE]") || !strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream") {
		t.Errorf("no stream: %s", a.Body)
	}
	if entry := g.awaitLog(a.Header.Get("x-gateway-request-id")); entry.get("metrics.prompt_slug").String() != second || entry.get("metrics.stream_mode").Int() != 1 {
		t.Errorf("in the log: %s", entry.Body)
	}

	config := fmt.Sprintf(`{"strategy":{"mode":"fallback"},"targets":[{"prompt_id":%q},{"prompt_id":%q}]}`, first, second)
	a = g.call("POST", "/v1/prompts/"+first+"/completions", `{"variables":{"name":"there"}}`, "x-gateway-config: "+config).want(t, 200)
	if got := a.get("choices.0.message.content").String(); !strings.HasPrefix(got, `You said: "Hello there"`) {
		t.Errorf("the answer is %s", a.Body)
	}
	g.awaitLog(a.Header.Get("x-gateway-request-id"))
	var rows callResult
	eventually(t, logLimit, "both attempts are in the log", func() bool {
		rows = g.call("GET", "/v1/logs?request_id="+a.Header.Get("x-gateway-request-id"), "")
		return rows.get("total").Int() == 2
	})
	if got := rows.get("data.#.prompt_slug").String(); got != fmt.Sprintf(`[%q,%q]`, second, first) {
		t.Errorf("the attempts ran %s", got)
	}
	if rows.get("data.0.prompt_id").String() != id || rows.get("data.0.prompt_version_id").String() != version {
		t.Errorf("in the log: %s", rows.Body)
	}
}

func gjsonText(body []byte, path string) string {
	return callResult{Body: string(body)}.get(path).String()
}

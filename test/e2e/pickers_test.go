package e2e

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A model picker in front of a local server offers what the server has, follows its changes,
// and keeps the last list while it is down; a deleted provider is not in it.
func TestModelPickersOfferWhatALocalServerHas(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	lists := func(names ...string) {
		up.Handle("/v1/models", upstream.Always(upstream.JSON(200, []byte(`{"object":"list","data":[{"id":"`+strings.Join(names, `"},{"id":"`)+`"}]}`))))
	}
	lists("llama3.2:latest", "off")
	g := start(t, with("MODEL_LIST_PERIOD=1ms"))
	offered := func() (ids []string) {
		for _, id := range g.call("GET", "/v1/models", "").want(t, 200).get("data.#.id").Array() {
			ids = append(ids, id.String())
		}
		return ids
	}
	offers := func(what string, want ...string) {
		t.Helper()
		eventually(t, logLimit, what, func() bool { return slices.Equal(offered(), want) })
	}
	g.saveIntegration("own", "vllm", up.URL()+"/v1")
	offers("the models of the server", "@own/llama3.2:latest", "@own/off")
	g.call("GET", "/v1/models/@own/llama3.2:latest", "").want(t, 200)
	if seen := up.Seen()[0]; seen.Get("authorization") != "Bearer sk-upstream-secret-of-own" {
		t.Errorf("the server got\n%s", seen.Head)
	}
	g.do(g.key, "PUT", "/v1/integrations/own/models", object{"models": []object{{"slug": "off", "enabled": false}}})
	offers("all but what was switched off", "@own/llama3.2:latest")
	lists("llama3.2:latest", "qwen3")
	offers("a model that was added", "@own/llama3.2:latest", "@own/qwen3")
	up.Handle("/v1/models", upstream.Always(upstream.JSON(503, []byte(`{}`))))
	before := up.Total()
	eventually(t, logLimit, "the server was asked while it is down", func() bool {
		return slices.Equal(offered(), []string{"@own/llama3.2:latest", "@own/qwen3"}) && up.Total() > before+2
	})
	g.do(g.key, "DELETE", "/v1/providers/own", nil)
	offers("nothing when the provider is deleted")
}

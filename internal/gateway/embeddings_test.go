package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// OpenAI's own client asks every provider for base64 and reads what comes as that: of lists of
// numbers, which many servers send regardless, it makes nothing but zeros.
func TestEmbeddingsComeAsAskedFor(t *testing.T) {
	t.Parallel()
	const lists = `{"object":"list", "data":[{"object":"embedding","index":0,"embedding":[0.5,-0.25,1e0],"x":1}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`
	for params, want := range map[string]string{
		`,"encoding_format":"base64"`: `"data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAgL4AAIA/","x":1}],"model":"m","usage"`,
		`,"encoding_format":"float"`:  `"embedding":[0.5,-0.25,1e0],"x":1}]`,
		``:                            `"embedding":[0.5,-0.25,1e0],"x":1}]`,
	} {
		r := newRig(t)
		r.up.Handle("/v1/embeddings", upstream.Always(upstream.JSON(200, []byte(lists))))
		a := r.call("POST", "/v1/embeddings", `{"model":"m","input":"x"`+params+`}`, "x-gateway-provider: mistral-ai", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL()+"/v1")
		if a.StatusCode != 200 || !strings.Contains(a.Text, want) {
			t.Errorf("%s: %d %s", params, a.StatusCode, a.Text)
		}
		if row := r.journal.one(t); row.Usage.TotalTokens != 1 {
			t.Errorf("%s: %+v", params, row.Usage)
		}
	}
}

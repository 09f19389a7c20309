package nomic

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/llm"
)

func TestEmbed(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "nomic-embed-text-v1.5"}
	dialecttest.Requests(t, embed{}, to, []dialecttest.RequestCase{
		{Name: "one", Request: dialecttest.JSON(`{"model":"x","input":"a"}`), Want: `{"model":"nomic-embed-text-v1.5","texts":["a"]}`},
		{
			Name: "all", Request: dialecttest.JSON(`{"input":["a","\"b\""],"task_type":"search_query","dimensions":256,"encoding_format":"base64","user":"u"}`),
			Want: `{"model":"nomic-embed-text-v1.5","texts":["a","\"b\""],"task_type":"search_query","dimensionality":256}`, Dropped: []string{"user"},
		},
		{Name: "tokens", Request: dialecttest.JSON(`{"input":[1,2]}`), Param: "input[0]"},
		{Name: "nothing", Request: dialecttest.JSON(`{}`), Param: "input"},
	})
	usage := llm.Usage{InputTokens: 4, TotalTokens: 4, Reported: true}
	dialecttest.Responses(t, embed{}, to, []dialecttest.ResponseCase{
		{
			Name: "numbers", Body: `{"embeddings":[[0.5,-1],[1,0]],"usage":{"prompt_tokens":4,"total_tokens":4},"model":"nomic-embed-text-v1.5"}`, Usage: usage,
			Want: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},{"object":"embedding","index":1,"embedding":[1,0]}],"model":"nomic-embed-text-v1.5","usage":{"prompt_tokens":4,"total_tokens":4}}`,
		},
		{
			Name: "base64", Sent: dialecttest.JSON(`{"encoding_format":"base64"}`), Body: `{"embeddings":[[1,-2]],"usage":{"prompt_tokens":4,"total_tokens":4}}`, Usage: usage,
			Want: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAMA="}],"model":"nomic-embed-text-v1.5","usage":{"prompt_tokens":4,"total_tokens":4}}`,
		},
		{Name: "none", Body: `{"detail":"x"}`},
		{Name: "no list", Body: `{"embeddings":null}`},
		{Name: "no vector", Body: `{"embeddings":[1]}`},
	})
}

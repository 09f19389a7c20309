package voyage

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/llm"
)

func TestEmbed(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "voyage-3.5"}
	dialecttest.Requests(t, embed{}, to, []dialecttest.RequestCase{
		{Name: "text", Request: dialecttest.JSON(`{"input":"a","model":"@mine/voyage-3.5"}`), Want: `{"input":["a"],"model":"voyage-3.5"}`},
		{
			Name: "all", Request: dialecttest.JSON(`{"model":"voyage-3.5","input":["a"],"dimensions":256,"encoding_format":"float","input_type":"query"}`),
			Want: `{"model":"voyage-3.5","input":["a"],"output_dimension":256,"input_type":"query"}`,
		},
		{Name: "base64", Request: dialecttest.JSON(`{"model":"voyage-3.5","input":["a"],"encoding_format":"base64"}`), Want: `{"model":"voyage-3.5","input":["a"],"encoding_format":"base64"}`},
	})
	dialecttest.Responses(t, embed{}, to, []dialecttest.ResponseCase{
		{
			Name: "total alone", Body: `{"object":"list","data":[{"object":"embedding","embedding":[0.10],"index":0}],"model":"voyage-3.5","usage":{"total_tokens":10}}`,
			Want:  `{"object":"list","data":[{"object":"embedding","embedding":[0.10],"index":0}],"model":"voyage-3.5","usage":{"total_tokens":10,"prompt_tokens":10}}`,
			Usage: llm.Usage{InputTokens: 10, TotalTokens: 10, Reported: true},
		},
		{Name: "none", Body: `{"detail":"x"}`},
		{Name: "no JSON", Body: `[`},
	})
}

func TestRerank(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "rerank-2.5"}
	dialecttest.Requests(t, Dialect().Unified[llm.Rerank], to, []dialecttest.RequestCase{{
		Name: "texts", Request: dialecttest.JSON(`{"query":"q","documents":["a",{"text":"b"}],"top_n":1,"truncation":true}`),
		Want: `{"model":"rerank-2.5","query":"q","documents":["a","b"],"top_k":1,"truncation":true}`,
	}})
}

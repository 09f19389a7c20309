package pinecone

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/llm"
)

func TestRerank(t *testing.T) {
	t.Parallel()
	dialecttest.Requests(t, Dialect().Unified[llm.Rerank], &dialect.Target{Model: "m"}, []dialecttest.RequestCase{{
		Name: "all", Request: dialecttest.JSON(`{"query":"q","documents":["a",{"text":"b","id":"1"}],"top_n":1,"rank_fields":["text"],"parameters":{"truncate":"END"},"max_tokens_per_doc":9}`),
		Want: `{"model":"m","query":"q","documents":[{"text":"a"},{"text":"b","id":"1"}],"top_n":1,"return_documents":false,"rank_fields":["text"],"parameters":{"truncate":"END"}}`, Dropped: []string{"max_tokens_per_doc"},
	}})
}

package reranking_test

import (
	"slices"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var (
	plain  = reranking.Endpoint{Top: "top_k", Documents: reranking.TextDocuments, Results: "data", Score: "relevance_score"}
	picky  = reranking.Endpoint{Top: "top_n", Documents: reranking.ObjectDocuments, Returns: true, Extras: []string{"rank_fields"}, Results: "data", Score: "score"}
	loose  = reranking.Endpoint{Top: "top_n", Results: "results", Score: "relevance_score"}
	rating = `{"model":"@me/m","query":"q","documents":["a",{"text":"b","id":1},{"x":2}],"top_n":2,"rank_fields":["text"],"a\"b":null,"truncation":false}`
)

func TestRerankerEncodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		k       reranking.Endpoint
		body    string
		want    string
		dropped []string
		refuse  string
	}{
		{"texts", plain, rating, `{"model":"m","query":"q","documents":["a","b","{\"x\":2}"],"top_k":2,"rank_fields":["text"],"truncation":false}`, nil, ""},
		{"objects", picky, rating, `{"model":"m","query":"q","documents":[{"text":"a"},{"text":"b","id":1},{"x":2}],"top_n":2,"return_documents":false,"rank_fields":["text"]}`, []string{"truncation"}, ""},
		{"any", loose, rating, `{"model":"m","query":"q","documents":["a",{"text":"b","id":1},{"x":2}],"top_n":2,"rank_fields":["text"],"truncation":false}`, nil, ""},
		{"documents wanted", picky, `{"query":"q","documents":[],"return_documents":true}`, `{"model":"m","query":"q","documents":[],"return_documents":true}`, nil, ""},
		{"a name with an escape", loose, `{"query":"q","documents":[],"a\"b":1}`, `{"model":"m","query":"q","documents":[],"a\"b":1}`, nil, ""},
		{"no query", loose, `{"documents":[]}`, "", nil, "query"},
		{"no documents", loose, `{"query":"q"}`, "", nil, "documents"},
		{"one document", loose, `{"query":"q","documents":"a"}`, "", nil, "documents"},
	} {
		out, err := c.k.EncodeRequest(t.Context(), &dialect.Request{Body: []byte(c.body)}, &dialect.Target{Model: "m"})
		switch {
		case c.refuse != "":
			if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.refuse {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || string(out.Body) != c.want || !slices.Equal(out.Dropped, c.dropped):
			t.Errorf("%s: %v, lost %q\ngot  %s\nwant %s", c.name, err, out.Dropped, out.Body, c.want)
		}
	}
}

func TestRerankerDecodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sent, body, want string
		k                      reranking.Endpoint
		usage                  llm.Usage
	}{
		{
			"voyage", `{}`, `{"object":"list","data":[{"relevance_score":0.87,"index":1}],"model":"rerank-2.5","usage":{"total_tokens":26}}`,
			`"object":"list","results":[{"index":1,"relevance_score":0.87}],"model":"rerank-2.5","usage":{"total_tokens":26}}`, plain,
			llm.Usage{InputTokens: 26, TotalTokens: 26, Reported: true},
		},
		{
			"pinecone", `{"return_documents":true,"documents":["a","b"]}`, `{"data":[{"index":1,"score":0.5,"document":{"text":"b"}},{"index":0,"score":0.1}],"usage":{"rerank_units":1}}`,
			`"object":"list","results":[{"index":1,"relevance_score":0.5,"document":{"text":"b"}},{"index":0,"relevance_score":0.1,"document":{"text":"a"}}],"model":"m","usage":{"search_units":1}}`, picky,
			llm.Usage{SearchUnits: 1, Reported: true},
		},
	} {
		a, err := c.k.TranslateResponse(&dialect.Incoming{Body: []byte(c.body), Sent: &dialect.Request{Body: []byte(c.sent)}, To: &dialect.Target{Model: "m"}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := string(a.Body)
		if id := `{"id":"rerank-`; len(got) < len(id)+26 || got[:len(id)] != id || got[len(id)+26:] != c.want || a.Usage != c.usage {
			t.Errorf("%s: usage %+v\ngot  %s\nwant %s", c.name, a.Usage, got, c.want)
		}
	}
	for _, body := range []string{``, `{"data":null}`, `{"data":{}}`, `[]`, `{"data":[{"index":0}]}`, `{"data":[{"relevance_score":1}]}`} {
		if _, err := plain.TranslateResponse(&dialect.Incoming{Body: []byte(body), Sent: &dialect.Request{}, To: &dialect.Target{}}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

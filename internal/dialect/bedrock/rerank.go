package bedrock

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/reranking"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// ranking implements document ranking, which Bedrock's agent runtime serves.
// Source: contract/provider-transforms.md 8.1;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html, read 2026-11.
type ranking struct{}

var _ dialect.OpenAIEndpoint = ranking{}

// EncodeRequest builds a ranking request.
func (ranking) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	query, ok := t.Consume("query")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "query is required; send it in the request body").WithParam("query")
	}
	list, ok := t.Consume("documents")
	if !ok || list[0] != '[' {
		return nil, fault.New(fault.InvalidParameter, "documents must be a list; send it in the request body").WithParam("documents")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("queries").Open('[')
	w.Open('{')
	w.Str("type", "TEXT")
	w.Key("textQuery").Open('{')
	w.Raw("text", query)
	w.Close('}')
	w.Close('}')
	w.Close(']')
	w.Key("sources").Open('[')
	n := 0
	for d := range jsonedit.Elements(list) {
		if err := writeSource(&w, d, n); err != nil {
			return nil, err
		}
		n++
	}
	w.Close(']')
	configure(&w, t, to)
	w.Close('}')
	t.Consume("return_documents") // the gateway applies it to the response
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// writeSource writes a document: a string, an object with only a text, or any other object.
func writeSource(w *jsonwriter.Writer, d []byte, n int) error {
	text, kind := d, "TEXT"
	if d[0] == '{' {
		members := 0
		for range jsonedit.Members(d) {
			members++
		}
		if text, _ = jsonedit.Find(d, "text"); members > 1 || len(text) == 0 {
			kind = "JSON"
		}
	} else if d[0] != '"' {
		path := fields.ElementPath("documents", n)
		return fault.New(fault.InvalidParameter, path+" must be a string or an object").WithParam(path)
	}
	w.Open('{')
	w.Str("type", "INLINE")
	w.Key("inlineDocumentSource").Open('{')
	w.Str("type", kind)
	if kind == "JSON" {
		w.Raw("jsonDocument", d)
	} else {
		w.Key("textDocument").Open('{')
		w.Raw("text", text)
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
	return nil
}

func configure(w *jsonwriter.Writer, t *llm.FieldTracker, to *dialect.Target) {
	w.Key("rerankingConfiguration").Open('{')
	w.Str("type", "BEDROCK_RERANKING_MODEL")
	w.Key("bedrockRerankingConfiguration").Open('{')
	fields.WriteParams(w, t, []fields.Rename{{Path: "top_n", To: "numberOfResults"}})
	w.Key("modelConfiguration").Open('{')
	w.Str("modelArn", arnOf(to))
	members, _ := t.First("additionalModelRequestFields", "additional_model_request_fields")
	w.Raw("additionalModelRequestFields", members)
	w.Close('}')
	w.Close('}')
	w.Close('}')
}

// arnOf returns the ARN of a foundation model, the only model name that ranking accepts.
func arnOf(to *dialect.Target) string {
	if strings.HasPrefix(to.Model, "arn") {
		return unescape(to.Model)
	}
	region, partition := cmp.Or(valueOf(to, "aws_region"), "us-east-1"), "aws"
	switch {
	case strings.HasPrefix(region, "us-gov-"):
		partition = "aws-us-gov"
	case strings.HasPrefix(region, "cn-"):
		partition = "aws-cn"
	}
	return "arn:" + partition + ":bedrock:" + region + "::foundation-model/" + to.Model
}

// TranslateResponse reads {"results":[{"index":0,"relevanceScore":0.9}]}.
func (ranking) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, ok := jsonedit.Find(incoming.Body, "results")
	if !ok || list[0] != '[' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no results")
	}
	r := reranking.Ranking{Model: incoming.To.Model}
	for val := range jsonedit.Elements(list) {
		var d reranking.Ranked
		for name, v := range jsonedit.Members(val) {
			switch string(name) {
			case `"index"`:
				d.Index, _ = usage.Count(v)
			case `"relevanceScore"`:
				d.Score = v
			}
		}
		r.Results = append(r.Results, d)
	}
	return r.BuildResponse(incoming.Sent.Body)
}

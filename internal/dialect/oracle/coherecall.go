package oracle

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/llm"
)

// The service has three chat formats. Cohere's models use their own format, which does not
// have a list of messages: earlier turns are in chatHistory, the prompt is in message, and
// the results of tool calls are in toolResults.
// Source: https://docs.oracle.com/en-us/iaas/tools/python/latest/api/generative_ai_inference/models/oci.generative_ai_inference.models.CohereChatRequest.html,
// read 2026-11.
const (
	generic = "GENERIC"
	cohere  = "COHERE"
)

// format returns the request format of a model. The name of a dedicated endpoint does not
// show it, so the credential may set it.
func format(to *dialect.Target) string {
	if value := to.Value("oracle_api_format"); value != "" {
		return value
	}
	for _, name := range v2Models {
		if strings.HasPrefix(to.Model, name) {
			return cohereV2
		}
	}
	switch {
	case strings.HasPrefix(to.Model, "cohere."):
		return cohere
	}
	return generic
}

// cohereParams are the parameters that both of Cohere's formats have.
var cohereParams = []fields.Rename{
	{Path: "temperature", To: "temperature"},
	{Path: "top_p", To: "topP"},
	{Path: "frequency_penalty", To: "frequencyPenalty"},
	{Path: "presence_penalty", To: "presencePenalty"},
	{Path: "seed", To: "seed"},
	{Path: "documents", To: "documents"},
	{Path: "is_search_queries_only", To: "isSearchQueriesOnly"},
	{Path: "is_raw_prompting", To: "isRawPrompting"},
}

// v1Params are the parameters that only the older format has. v1Shouted are those whose
// values are in capitals.
var v1Params = []fields.Rename{
	{Path: "is_echo", To: "isEcho"},
	{Path: "is_force_single_step", To: "isForceSingleStep"},
}

var v1Shouted = []fields.Rename{
	{Path: "citation_quality", To: "citationQuality"},
	{Path: "prompt_truncation", To: "promptTruncation"},
}

// cohereWriter writes a chat request in Cohere's format.
type cohereWriter struct {
	*writer
	calls map[string]*llm.ToolCall // by their ids, which the format does not have
}

func (w *cohereWriter) request() error {
	if err := w.conversation(); err != nil {
		return err
	}
	w.tools()
	w.cohereFormat()
	w.cohereParams()
	fields.WriteParams(&w.writer.Writer, w.t, v1Params)
	w.upperCaseFields(v1Shouted)
	return nil
}

// cohereParams writes the generation parameters that both formats have.
func (w *writer) cohereParams() {
	fields.WriteParams(&w.Writer, w.t, cohereParams)
	w.upperCaseFields([]fields.Rename{{Path: "safety_mode", To: "safetyMode"}})
	if raw, ok := w.t.First("k", "top_k"); ok {
		w.Raw("topK", raw)
	}
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", conversation.Stops(raw, true))
	}
	if raw, ok := w.t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("maxTokens", raw)
	}
}

// cohereFormat writes the response format. Neither request format has names of schemas.
func (w *writer) cohereFormat() {
	f := w.c.Format
	if f == nil {
		return
	}
	w.Key("responseFormat").Open('{')
	if f.Type == "text" {
		w.Str("type", "TEXT")
	} else {
		w.Str("type", "JSON_OBJECT")
		w.Raw("schema", f.Schema)
	}
	w.Close('}')
}

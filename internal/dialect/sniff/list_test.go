package sniff_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect/sniff"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func TestHasList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep      llm.Endpoint
		body    string
		message string
	}{
		{llm.ChatComplete, `{"choices":[]}`, ""},
		{llm.ChatComplete, "{\"id\":\"\\\"choices\\\":7\", \"choices\" \n:\r\n [{}]}", ""},
		{llm.ChatComplete, `{"meta":{"choices":{}},"choices":[{"message":{"content":7}}]}`, ""},
		{llm.ChatComplete, `{"choices":{"message":{}}}`, "choices is not a list"},
		{llm.ChatComplete, `{"choices":null}`, "choices is not a list"},
		{llm.ChatComplete, `{"id":"choices"}`, "it has no choices"},
		{llm.ChatComplete, `{"error":{"message":"overloaded"}}`, "reports an error and has no choices"},
		{llm.Complete, `{"choices":"x"}`, "choices is not a list"},
		{llm.Messages, `{"content":[],"type":"message"}`, ""},
		{llm.Messages, `{"content":"Hi"}`, "content is not a list"},
		{llm.CreateModelResponse, `{"output":[]}`, ""},
		{llm.CreateModelResponse, `{"output":{}}`, "output is not a list"},
		{llm.Embed, `{"data":{}}`, "data is not a list"},
		{llm.Rerank, `{"results":{}}`, ""},
		{llm.ListModels, `{}`, ""},
	} {
		err := sniff.CheckList(c.ep, []byte(c.body))
		if (err != nil) != (c.message != "") || err != nil && (!fault.Has(err, fault.UpstreamInvalid) || !strings.Contains(err.Error(), c.message)) {
			t.Errorf("%s of %s: %v, want %q", c.ep, c.body, err, c.message)
		}
	}
}

// What has its list at the top passes, wherever else the name stands; what has none
// anywhere is refused.
func TestHasListIsSure(t *testing.T) {
	t.Parallel()
	value := rapid.SampledFrom([]string{`[]`, `{}`, `"x"`, `null`, `7`, `"\"choices\":["`, ` [{"choices":1}]`})
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"choices", "id", "error", "x\\\"choices"}), 0, 4, rapid.ID).Draw(t, "names")
		var members []string
		for _, n := range names {
			members = append(members, `"`+n+`" : `+value.Draw(t, "value"))
		}
		body := []byte("{" + strings.Join(members, ",") + "}")
		raw, _ := jsonedit.Find(body, "choices")
		want := len(raw) > 0 && raw[0] == '['
		none := !want && !strings.Contains(string(body), "[")
		if err := sniff.CheckList(llm.ChatComplete, body); want && err != nil || none && err == nil {
			t.Fatalf("%s: %v", body, err)
		}
	})
}

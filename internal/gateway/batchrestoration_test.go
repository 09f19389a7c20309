package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A line of a batch that the gateway runs itself is a call: the values of that line are restored in its
// answer, and those of other lines are not.
func TestManagedBatch_RestoresTheValuesOfEachLine(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
	var config map[string]any
	if err := json.Unmarshal([]byte(`{"provider":"openai","api_key":"k","custom_host":"`+r.up.URL()+`/v1",`+hideMail+`}`), &config); err != nil {
		t.Fatal(err)
	}
	b := r.runBatch("immediate", batchLine("a", "I am "+ann)+batchLine("b", "I am bob@example.com"), map[string]any{"config": config})
	if b.Status != "completed" || b.Counts.Completed != 2 {
		t.Fatalf("%+v", b)
	}
	rows := r.batchRows(b.Output)
	for id, want := range map[string]string{"a": ann, "b": "bob@example.com"} {
		if row := rows[id]; !strings.Contains(string(row.Response.Body), `"to `+want+`"`) {
			t.Errorf("line %s: %s", id, row.Response.Body)
		}
	}
	r.expectHidden(t, ann)
}

// The parameters of a config are in the lines that a provider runs, once and as hooks left them. The calls for the
// file and for the batch do not repeat them.
func TestDelegatedBatch_AppliesParametersOnce(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		`"override_params":{"suffix":"a secret"},"input_mutators":[{"regexReplace":{"rule":"secret","redactText":"***"}}]`: `"suffix":"a ***"`,
		`"override_params":{"suffix":"a word"}`: `"suffix":"a word"`,
	} {
		r := newBatchRig(t)
		r.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, []byte(`{"id":"file-up","object":"file"}`))))
		failed := upstream.Always(upstream.JSON(200, []byte(`{"id":"batch_up","object":"batch","status":"failed"}`)))
		r.up.Handle("/v1/batches", failed)
		r.up.Handle("/v1/batches/batch_up", failed)
		var config map[string]any
		if err := json.Unmarshal([]byte(r.target(members)), &config); err != nil {
			t.Fatal(err)
		}
		r.runBatch("24h", batchLine("a", "one"), map[string]any{"config": config})
		seen := r.up.Seen()
		if upload := string(seen[0].Body); strings.Count(upload, "suffix") != 1 || !strings.Contains(upload, want) {
			t.Errorf("uploaded %s", upload)
		}
		for _, s := range seen[1:] {
			if strings.Contains(string(s.Body), "suffix") {
				t.Errorf("%s: %s", s.Path(), s.Body)
			}
		}
	}
}

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

package llm_test

import (
	"strconv"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	cases := []struct {
		method, path string
		want         llm.Endpoint
		id           string
	}{
		{"POST", "/chat/completions", llm.ChatComplete, ""},
		{"GET", "/chat/completions", llm.Proxy, ""},
		{"GET", "/files/file-1", llm.RetrieveFile, "file-1"},
		{"GET", "/files/file-1/content", llm.RetrieveFileContent, "file-1"},
		{"DELETE", "/files/a%2Fb", llm.DeleteFile, "a%2Fb"},
		{"GET", "/files/a/b", llm.Proxy, ""},
		{"GET", "/models/@main/meta/llama", llm.RetrieveModel, "@main/meta/llama"},
		{"GET", "/batches/arn%3Aaws/job/1", llm.RetrieveBatch, "arn%3Aaws/job/1"},
		{"POST", "/batches/arn:aws/job/1/cancel", llm.CancelBatch, "arn:aws/job/1"},
		{"GET", "/batches/b/output", llm.GetBatchOutput, "b"},
		{"GET", "/responses/r/input_items", llm.ListResponseInputItems, "r"},
		{"GET", "/responses/", llm.Proxy, ""},
		{"POST", "/collections", llm.Proxy, ""},
		{"POST", "/fine_tuning/jobs/j/cancel", llm.CancelFinetune, "j"},
		{"POST", "/chat/complet%69ons", llm.ChatComplete, ""},
		{"POST", "/chat%2Fcompletions", llm.ChatComplete, ""},
		{"GET", "/real%74ime", llm.Realtime, ""},
		{"POST", "/chat/completions/", llm.ChatComplete, ""},
		{"POST", "//chat//completions", llm.ChatComplete, ""},
		{"POST", "/chat/completions%2F", llm.ChatComplete, ""},
		{"POST", "/x/%2e%2e/chat/./completions", llm.ChatComplete, ""},
		{"GET", "/files/", llm.ListFiles, ""},
		{"GET", "/files/..", llm.RetrieveFile, ".."},
		{"POST", "/chat/completions/x", llm.Proxy, ""},
		{"POST", "/", llm.Proxy, ""},
		{"POST", "", llm.Proxy, ""},
		{"POST", "/chat/completions%", llm.Proxy, ""},
		{"POST", "/chat/completions%20", llm.Proxy, ""},
	}
	for _, c := range cases {
		if m := llm.Lookup(c.method, c.path); m.Endpoint != c.want || m.ID != c.id {
			t.Errorf("%s %s: %s %q, want %s %q", c.method, c.path, m.Endpoint, m.ID, c.want, c.id)
		}
	}
	for _, r := range llm.Routes {
		if m := llm.Lookup(r.Method, strings.ReplaceAll(r.Path, "{id}", "x-1")); m.Endpoint != r.Endpoint {
			t.Errorf("%s %s leads to %s", r.Method, r.Path, m.Endpoint)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add("GET", "/files//content")
	f.Fuzz(func(t *testing.T, method, path string) { llm.Lookup(method, path) })
}

func TestPath(t *testing.T) {
	t.Parallel()
	cases := []struct {
		surface llm.Endpoint
		index   int
		part    int
		want    string
	}{
		{llm.ChatComplete, 2, 0, "messages[2].content[0]"},
		{llm.ChatComplete, 2, -1, "messages[2]"},
		{llm.Messages, -1, -1, "system"},
		{llm.Messages, -1, 1, "system[1]"},
		{llm.CreateModelResponse, -1, -1, "instructions"},
		{llm.CreateModelResponse, 2, 1, "input[2].content[1]"},
		{llm.CreateModelResponse, 2, -1, "input[2]"},
		{llm.CreateModelResponse, 2, -3, "input[4]"},
	}
	for _, c := range cases {
		call := llm.Call{Surface: c.surface}
		if got := call.Path(&llm.Message{Index: c.index}, c.part); got != c.want {
			t.Errorf("%s %d %d: %s, want %s", c.surface, c.index, c.part, got, c.want)
		}
	}
}

// A call may lose something in each of its parts. To look each up among all the others
// would take longer than tests may.
func TestTallyOfManyLosses(t *testing.T) {
	t.Parallel()
	const parts = 500_000
	tally := llm.NewTally(&llm.Call{})
	for range 2 {
		for i := range parts {
			tally.Drop("messages[" + strconv.Itoa(i) + "]")
		}
	}
	if dropped := tally.Dropped(); len(dropped) != parts || dropped[7] != "messages[7]" {
		t.Errorf("%d lost", len(dropped))
	}
}

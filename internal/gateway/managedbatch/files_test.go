package managedbatch_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway/managedbatch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func TestFiles_AreSealedAndBelongToTheirWorkspace(t *testing.T) {
	t.Parallel()
	n := newNode(t, newMemory(), &executor{}, noJudge{})
	content := strings.Repeat(lines(100), 100) // several parts
	file, err := n.upload("batch", content)
	if err != nil {
		t.Fatal(err)
	}
	id := jsonedit.Text([]byte(file), "id")
	if len(n.store.chunks[id]) < 2 {
		t.Errorf("%d parts", len(n.store.chunks[id]))
	}
	for _, data := range n.store.chunks[id] {
		if strings.Contains(string(data), "custom_id") {
			t.Fatal("the content is stored in plain text")
		}
	}
	named := func(r *managedbatch.Request) { r.Match.ID = id }
	if got := n.must(llm.RetrieveFileContent, named); got != content {
		t.Errorf("%d bytes, want %d", len(got), len(content))
	}
	if got := n.must(llm.RetrieveFile, named); got != file {
		t.Errorf("%s, want %s", got, file)
	}
	other := func(r *managedbatch.Request) { r.Match.ID = id; r.By.WorkspaceID = "other" }
	for _, e := range []llm.Endpoint{llm.RetrieveFile, llm.RetrieveFileContent, llm.DeleteFile} {
		if _, err := n.respond(e, other); !fault.Has(err, fault.NotFound) {
			t.Errorf("%s in another workspace: %v", e, err)
		}
	}
	if got := n.must(llm.ListFiles, other); strings.Contains(got, id) {
		t.Errorf("listed in another workspace: %s", got)
	}
	if got := n.must(llm.ListFiles, func(*managedbatch.Request) {}); !strings.Contains(got, id) {
		t.Errorf("listed: %s", got)
	}
	if got := n.must(llm.DeleteFile, named); got != `{"id":"`+id+`","object":"file","deleted":true}` {
		t.Error(got)
	}
	if _, err := n.respond(llm.RetrieveFileContent, named); !fault.Has(err, fault.NotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestUpload_RejectsWhatIsNoInputOfABatch(t *testing.T) {
	t.Parallel()
	n := newNode(t, newMemory(), &executor{}, noJudge{})
	for _, c := range []struct{ purpose, content, field string }{
		{"fine-tune", lines(1), "purpose"},
		{"batch", "", "file"},
		{"batch", "\n\n", "file"},
		{"batch", lines(1) + "[]", "file"},
		{"batch", lines(1) + `{"a":`, "file"},
		{"batch", strings.Repeat("{}\n", 50_001), "file"},
	} {
		if _, err := n.upload(c.purpose, c.content); !fault.Has(err, fault.InvalidParameter) || fault.From(err).Param != c.field {
			t.Errorf("%s, %.20q: %v", c.purpose, c.content, err)
		}
	}
	if _, err := n.upload("batch", strings.Repeat("{}\n", 50_000)); err != nil {
		t.Error(err)
	}
	if len(n.store.files) != 1 {
		t.Errorf("%d files", len(n.store.files))
	}
}

func TestCreate_RejectsInvalidFields(t *testing.T) {
	t.Parallel()
	n := newNode(t, newMemory(), &executor{}, noJudge{})
	file, err := n.upload("batch", lines(1))
	if err != nil {
		t.Fatal(err)
	}
	const endpoint, window = `"endpoint":"/v1/chat/completions"`, `"completion_window":"immediate"`
	input := `"input_file_id":"` + jsonedit.Text([]byte(file), "id") + `"`
	for body, field := range map[string]string{
		endpoint + "," + window:                                                                           "input_file_id",
		`"input_file_id":"file-gwx",` + endpoint + "," + window:                                           "input_file_id",
		input + "," + window:                                                                              "endpoint",
		input + `,"endpoint":"/v1/files",` + window:                                                       "endpoint",
		input + "," + endpoint:                                                                            "completion_window",
		input + "," + endpoint + `,"completion_window":"1h"`:                                              "completion_window",
		input + "," + endpoint + "," + window + `,"metadata":[]`:                                          "metadata",
		input + "," + endpoint + "," + window + `,"gateway_options":"pc-x"`:                               "gateway_options",
		input + "," + endpoint + "," + window + `,"gateway_options":{"api_key":"x"}`:                      "gateway_options.api_key",
		input + "," + endpoint + "," + window + `,"gateway_options":{"content-type":"x"}`:                 "gateway_options.content-type",
		input + "," + endpoint + "," + window + `,"gateway_options":{"trace_id":"a\nb"}`:                  "gateway_options.trace_id",
		input + "," + endpoint + `,"completion_window":"24h","gateway_options":{"provider":"Gateway"}`:    "gateway_options.provider",
		input + "," + endpoint + "," + window + `,"gateway_options":{"x-gateway-config":{"provider":1}}`:  "",
		input + "," + endpoint + "," + window + `,"gateway_options":null,"metadata":null,"other":"field"`: "",
	} {
		d := jsonedit.GetDoc()
		if err := jsonedit.Scan([]byte("{"+body+"}"), d); err != nil {
			t.Fatal(err)
		}
		_, err := n.respond(llm.CreateBatch, func(r *managedbatch.Request) { r.Doc = d })
		if field == "" && err != nil || field != "" && (!fault.Has(err, fault.InvalidParameter) || fault.From(err).Param != field) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

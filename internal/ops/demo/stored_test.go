package demo_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/ops/demo"
)

type fileObject struct {
	ID, Object, Filename, Purpose, Status string
	Bytes, Created                        int64
}

type list[T any] struct {
	Object  string
	Data    []T
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// upload stores a file and returns its id.
func (p provider) upload(name, purpose, body string) string {
	p.t.Helper()
	res, got := p.form("/v1/files", "file", name, []byte(body), "purpose", purpose)
	var f fileObject
	if err := json.Unmarshal([]byte(got), &f); err != nil || res.StatusCode != 200 || f.Object != "file" || f.Filename != name || f.Bytes != int64(len(body)) || f.Purpose != purpose || f.Status != "processed" {
		p.t.Fatalf("%s %s", res.Status, got)
	}
	return f.ID
}

func TestFiles(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	a, b, c := p.upload("a.jsonl", "batch", "one"), p.upload("b.txt", "user_data", "two\x00"), p.upload("c.txt", "evals", "")
	var f fileObject
	p.get("/v1/files/"+b, &f)
	_, content := p.call(http.MethodGet, "/v1/files/"+b+"/content", "", nil)
	if f.Filename != "b.txt" || content != "two\x00" {
		t.Errorf("%+v %q", f, content)
	}
	var l list[fileObject]
	p.get("/v1/files?limit=2", &l)
	if l.Object != "list" || len(l.Data) != 2 || *l.FirstID != c || *l.LastID != b || !l.HasMore {
		t.Errorf("%+v", l)
	}
	l = list[fileObject]{}
	p.get("/v1/files?limit=2&after="+b, &l)
	if len(l.Data) != 1 || l.Data[0].ID != a || l.HasMore {
		t.Errorf("%+v", l)
	}
	var gone struct {
		ID      string
		Deleted bool
	}
	p.into(http.MethodDelete, "/v1/files/"+a, "", nil, &gone)
	res, got := p.call(http.MethodGet, "/v1/files/"+a, "", nil)
	wantRefusal(t, res, got, 404, "id")
	if gone.ID != a || !gone.Deleted {
		t.Errorf("%+v", gone)
	}
	res, got = p.form("/v1/files", "file", "big.bin", make([]byte, 8<<20+1), "purpose", "batch")
	wantRefusal(t, res, got, 413, "file")
	res, got = p.form("/v1/files", "file", "x", nil, "purpose", "fun")
	wantRefusal(t, res, got, 400, "purpose")
	res, got = p.form("/v1/files", "", "", nil, "purpose", "batch")
	wantRefusal(t, res, got, 400, "file")
}

// The shelf of files is bounded: the oldest goes when the newest needs its room.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	body := strings.Repeat("x", 8<<20)
	var ids []string
	for i := range 5 {
		ids = append(ids, p.upload(fmt.Sprint(i), "batch", body))
	}
	for i, id := range ids {
		if res, _ := p.call(http.MethodGet, "/v1/files/"+id, "", nil); (res.StatusCode == 200) != (i > 0) {
			t.Errorf("file %d: %s", i, res.Status)
		}
	}
}

type batchObject struct {
	ID, Object, Status string
	Output             *string                                `json:"output_file_id"`
	ErrorFile          *string                                `json:"error_file_id"`
	Completed          *int64                                 `json:"completed_at"`
	Counts             struct{ Total, Completed, Failed int } `json:"request_counts"`
	Metadata           map[string]string
}

func TestBatches(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	input := p.upload("in.jsonl", "batch", `{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"model":"m","input":"x","dimensions":2}}

{"custom_id":"b","method":"POST","url":"/v1/embeddings","body":{}}
{"custom_id":"c","method":"POST","url":"/v1/chat/completions","body":{}}
nonsense
`)
	create := `{"input_file_id":"` + input + `","endpoint":"/v1/embeddings","completion_window":"24h","metadata":{"k":"v"}}`
	var b batchObject
	p.post("/v1/batches", create, &b)
	states := b.Status
	for range 3 {
		p.get("/v1/batches/"+b.ID, &b)
		states += " " + b.Status
	}
	if states != "validating in_progress completed completed" || b.Object != "batch" || b.Metadata["k"] != "v" || *b.Completed != fixedUnix {
		t.Errorf("%s: %+v", states, b)
	}
	if b.Counts.Total != 4 || b.Counts.Completed != 2 || b.Counts.Failed != 2 {
		t.Errorf("counts %+v", b.Counts)
	}
	_, out := p.call(http.MethodGet, "/v1/files/"+*b.Output+"/content", "", nil)
	want := []string{`"custom_id":"a","response":{"status_code":200,`, `"custom_id":"b","response":{"status_code":400,`}
	checkLines(t, out, want)
	_, bad := p.call(http.MethodGet, "/v1/files/"+*b.ErrorFile+"/content", "", nil)
	checkLines(t, bad, []string{`"custom_id":"c","response":null,"error":{"code":"mismatched_endpoint"`, `"custom_id":"","response":null,"error":{"code":"invalid_json_line"`})

	res, got := p.call(http.MethodPost, "/v1/batches/"+b.ID+"/cancel", "", nil)
	wantRefusal(t, res, got, 409, "")
	var second batchObject
	p.post("/v1/batches", create, &second)
	p.into(http.MethodPost, "/v1/batches/"+second.ID+"/cancel", "", nil, &second)
	if second.Status != "cancelled" {
		t.Errorf("%+v", second)
	}
	var l list[batchObject]
	p.get("/v1/batches", &l)
	if len(l.Data) != 2 || l.Data[0].ID != second.ID {
		t.Errorf("%+v", l)
	}
}

func checkLines(t *testing.T, got string, want []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d: %s", len(lines), len(want), got)
	}
	for i, line := range lines {
		if !json.Valid([]byte(line)) || !strings.Contains(line, want[i]) {
			t.Errorf("line %d: %s\nwant %s", i, line, want[i])
		}
	}
}

func TestBatchRefusals(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	input, other := p.upload("in.jsonl", "batch", `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}}`), p.upload("x", "evals", "")
	for param, body := range map[string]string{
		"input_file_id":     `{"input_file_id":"` + other + `","endpoint":"/v1/embeddings","completion_window":"24h"}`,
		"endpoint":          `{"input_file_id":"` + input + `","endpoint":"/v1/files","completion_window":"24h"}`,
		"completion_window": `{"input_file_id":"` + input + `","endpoint":"/v1/embeddings","completion_window":"1h"}`,
	} {
		res, got := p.call(http.MethodPost, "/v1/batches", "application/json", strings.NewReader(body))
		wantRefusal(t, res, got, 400, param)
	}
	var b batchObject
	p.post("/v1/batches", `{"input_file_id":"`+input+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`, &b)
	p.get("/v1/batches/"+b.ID, &b)
	p.get("/v1/batches/"+b.ID, &b)
	if b.Counts.Failed != 1 || b.Output != nil {
		t.Errorf("a stream in a batch: %+v", b)
	}
}

func TestFineTuning(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	input := p.upload("train.jsonl", "fine-tune", "three words here")
	type job struct {
		ID, Object, Status string
		Tuned              *string `json:"fine_tuned_model"`
		Trained            *int64  `json:"trained_tokens"`
	}
	var j job
	p.post("/v1/fine_tuning/jobs", `{"model":"demo-chat","training_file":"`+input+`","suffix":"mine"}`, &j)
	states := j.Status
	for range 3 {
		p.get("/v1/fine_tuning/jobs/"+j.ID, &j)
		states += " " + j.Status
	}
	if states != "validating_files running succeeded succeeded" || j.Object != "fine_tuning.job" || !strings.HasPrefix(*j.Tuned, "ft:demo-chat:demo:mine:") || *j.Trained != 3 {
		t.Errorf("%s: %+v", states, j)
	}
	res, got := p.call(http.MethodPost, "/v1/fine_tuning/jobs/"+j.ID+"/cancel", "", nil)
	wantRefusal(t, res, got, 400, "")
	res, got = p.call(http.MethodPost, "/v1/fine_tuning/jobs", "application/json", strings.NewReader(`{"model":"m","training_file":"`+input+`","suffix":"`+strings.Repeat("s", 65)+`"}`))
	wantRefusal(t, res, got, 400, "suffix")
	var second job
	p.post("/v1/fine_tuning/jobs", `{"model":"demo-chat","training_file":"`+input+`"}`, &second)
	p.into(http.MethodPost, "/v1/fine_tuning/jobs/"+second.ID+"/cancel", "", nil, &second)
	var l list[job]
	p.get("/v1/fine_tuning/jobs?limit=1", &l)
	if second.Status != "cancelled" || len(l.Data) != 1 || l.Data[0].ID != second.ID || !l.HasMore {
		t.Errorf("%+v %+v", second, l)
	}
}

package gateway_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// An upload that takes four calls: the credential goes to the provider alone, not to the
// address that it names for the bytes.
func TestUploadInSteps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const dataset = `{"name":"accounts/me/datasets/file-abc","state":"UPLOADING"}`
	r.up.Handle("/datasets", upstream.Always(upstream.JSON(200, []byte(dataset))))
	r.up.Handle("/datasets/file-abc:getUploadEndpoint", upstream.Always(upstream.JSON(200, []byte(`{"filenameToSignedUrls":{"rows.jsonl":"`+r.up.URL()+`/bucket/rows?sig=1"}}`))))
	r.up.Handle("/bucket/rows", upstream.Always(upstream.Response{}))
	r.up.Handle("/datasets/file-abc:validateUpload", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("purpose", "fine-tune")
	file, err := form.CreateFormFile("file", "train.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Repeat(`{"messages":[]}`+"\n", 100)
	_, _ = file.Write([]byte(rows))
	_ = form.Close()
	a := r.call("POST", "/v1/files", body.String(), "content-type: "+form.FormDataContentType(), "x-gateway-provider: fireworks-ai",
		"authorization: Bearer fw-key", "x-gateway-fireworks-account-id: me", "x-gateway-custom-host: "+r.up.URL())
	if a.StatusCode != http.StatusOK || !strings.Contains(a.Text, `"id":"file-abc"`) || !strings.Contains(a.Text, `"filename":"train.jsonl"`) || !strings.Contains(a.Text, `"bytes":1600`) {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	seen := r.up.Seen()
	if len(seen) != 4 || seen[2].Method != "PUT" || string(seen[2].Body) != rows || seen[2].Target != "/bucket/rows?sig=1" {
		t.Fatalf("%d calls: %+v", len(seen), seen)
	}
	for i, s := range seen {
		keyed := false
		for _, f := range s.Header {
			keyed = keyed || strings.Contains(f.Value, "fw-key")
		}
		if keyed != (i != 2) {
			t.Errorf("call %d to %s has the key: %v", i, s.Target, keyed)
		}
	}
}

// An address that the provider names is guarded as any other is.
func TestStepsAreGuarded(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://169.254.169.254/latest", "file:///etc/passwd", "http://10.0.0.1/x", "https://user:pass@127.0.0.1/x"} {
		r := newRig(t)
		r.up.Handle("/datasets", upstream.Always(upstream.JSON(200, []byte(`{"name":"accounts/me/datasets/file-abc"}`))))
		r.up.Handle("/datasets/file-abc:getUploadEndpoint", upstream.Always(upstream.JSON(200, []byte(`{"filenameToSignedUrls":{"rows.jsonl":"`+address+`"}}`))))
		body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{}\r\n--b--\r\n"
		a := r.call("POST", "/v1/files", body, "content-type: multipart/form-data; boundary=b", "x-gateway-provider: fireworks-ai",
			"authorization: Bearer fw-key", "x-gateway-fireworks-account-id: me", "x-gateway-custom-host: "+r.up.URL())
		if a.StatusCode < 400 || r.up.Total() != 2 {
			t.Errorf("%s: %d %s after %d calls", address, a.StatusCode, a.Text, r.up.Total())
		}
	}
}

// batchJob is a job of Bedrock's that is done.
const batchJob = `{"jobArn":"arn:aws:bedrock:us-east-1:1:model-invocation-job/b1","modelId":"anthropic.claude-3-haiku-20240307-v1:0","status":"Completed",` +
	`"inputDataConfig":{"s3InputDataConfig":{"s3Uri":"s3://acme/in/rows.jsonl"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://acme/out/"}}}`

// The output of a batch may be larger than what is held of an answer: it is put in the
// caller's words as it comes. One that ends early cuts the connection.
func TestBatchOutputIsNotHeld(t *testing.T) {
	t.Parallel()
	const rows = 2000
	file := strings.Repeat(`{"recordId":"1","modelOutput":{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}}`+"\n", rows)
	for name, response := range map[string]upstream.Response{
		"whole": upstream.Text(200, "binary/octet-stream", file),
		"cut":   {Chunks: []upstream.Chunk{{Bytes: []byte(file)}}, Claim: int64(len(file)) + 1},
		"gone":  upstream.Text(404, "application/xml", "<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *gateway.Settings) { s.MaxResponseBytes = 4 << 10 })
			r.up.Handle("/model-invocation-job/b1", upstream.Always(upstream.JSON(200, []byte(batchJob))))
			r.up.Handle("/acme/out/b1/rows.jsonl.out", upstream.Always(response))
			a := r.call("GET", "/v1/batches/b1/output", "", r.bedrock()...)
			switch {
			case name == "gone":
				if a.StatusCode != 404 || !strings.Contains(a.Text, "It is gone.") {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
			case a.StatusCode != 200 || a.Header.Get("content-type") != "application/jsonl" || strings.Count(a.Text, `"content":"Hi"`) != rows:
				t.Errorf("%d %v, %d rows: %.300s", a.StatusCode, a.Header, strings.Count(a.Text, `"content":"Hi"`), a.Text)
			case (name == "cut") != (a.Err != nil):
				t.Errorf("the file ended with %v", a.Err)
			}
		})
	}
}

// Results of batches and contents of files pass through as they come, whatever their size.
func TestFilesAreNotHeld(t *testing.T) {
	t.Parallel()
	file := strings.Repeat(`{"custom_id":"1","result":{"type":"succeeded"}}`+"\n", 2000)
	for name, c := range map[string]struct {
		speaker            speaker
		upstreamPath, path string
		contentType        string
		expectedType       string
	}{
		"results of Anthropic": {speaker{id: "anthropic", base: "/v1"}, "/v1/messages/batches/b1/results", "/v1/batches/b1/output", "application/x-jsonl", "application/x-jsonl"},
		"a file of Anthropic":  {speaker{id: "anthropic", base: "/v1"}, "/v1/files/f1/content", "/v1/files/f1/content", "", "application/octet-stream"},
	} {
		r := newRig(t, func(s *gateway.Settings) { s.MaxResponseBytes = 4 << 10 })
		r.up.Handle(c.upstreamPath, upstream.Always(upstream.Text(200, c.contentType, file)))
		if a := r.call("GET", c.path, "", r.as(c.speaker)...); a.StatusCode != 200 || a.Text != file || a.Header.Get("content-type") != c.expectedType {
			t.Errorf("%s: %d %v %.200s", name, a.StatusCode, a.Header, a.Text)
		}
	}
}

// avroFile is a file of Avro with one row: the name of an embedding, [0.5].
func avroFile(id string) string {
	const schema = `{"type":"record","name":"r","fields":[{"name":"custom_id","type":"string"},{"name":"embedding","type":{"type":"array","items":"double"}}]}`
	text := func(s string) string { return string(binary.AppendVarint(nil, int64(len(s)))) + s }
	row := text(id) + "\x02" + "\x00\x00\x00\x00\x00\x00\xe0\x3f" + "\x00"
	return "Obj\x01\x02" + text("avro.schema") + text(schema) + "\x00" + "0123456789abcdef" + "\x02" + text(row) + "0123456789abcdef"
}

// The output of a batch that stands in several files is their rows, one file behind the
// other. One that is missing, or is no such file, cuts the answer.
func TestOutputInSeveralFiles(t *testing.T) {
	t.Parallel()
	const line = `{"custom_id":"%s","response":{"status_code":200,"body":[0.5]},"error":null}` + "\n"
	for name, c := range map[string]struct {
		last upstream.Response
		want string
		cut  bool
	}{
		"whole":   {upstream.Text(200, "", avroFile("c")), fmt.Sprintf(line+line+line, "a", "b", "c"), false},
		"missing": {upstream.Text(404, "", ""), fmt.Sprintf(line+line, "a", "b"), true},
		"garbage": {upstream.Text(200, "", "what"), fmt.Sprintf(line+line, "a", "b"), true},
		"cut":     {upstream.Text(200, "", avroFile("c")[:len(avroFile("c"))-20]), fmt.Sprintf(line+line, "a", "b"), true},
	} {
		r := newRig(t, func(s *gateway.Settings) { s.MaxResponseBytes = 4 << 10 })
		r.up.Handle("/v1/embed-jobs/j1", upstream.Always(upstream.JSON(200, []byte(`{"job_id":"j1","status":"complete","output_dataset_id":"d1"}`))))
		r.up.Handle("/v1/datasets/d1", upstream.Always(upstream.JSON(200, fmt.Appendf(nil, `{"dataset":{"dataset_parts":[{"url":"%[1]s/a"},{"url":"%[1]s/b"},{"url":"%[1]s/c"}]}}`, r.up.URL()))))
		r.up.Handle("/a", upstream.Always(upstream.Text(200, "", avroFile("a"))))
		r.up.Handle("/b", upstream.Always(upstream.Text(200, "", avroFile("b"))))
		r.up.Handle("/c", upstream.Always(c.last))
		a := r.call("GET", "/v1/batches/j1/output", "", r.as(speaker{id: "cohere"})...)
		if a.StatusCode != 200 || a.Text != c.want || (a.Err != nil) != c.cut || a.Header.Get("content-type") != "application/jsonl" {
			t.Errorf("%s: %d %v, %v\n%s", name, a.StatusCode, a.Header, a.Err, a.Text)
		}
	}
}

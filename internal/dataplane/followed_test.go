package dataplane_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/dataplane"
	"sluice/test/upstream"
)

// An upload that takes four calls: the credential goes to the provider alone, not to the
// address that it names for the bytes.
func TestUploadInSteps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const dataset = `{"name":"accounts/me/datasets/file-abc","state":"UPLOADING"}`
	r.up.On("/datasets", upstream.Always(upstream.JSON(200, []byte(dataset))))
	r.up.On("/datasets/file-abc:getUploadEndpoint", upstream.Always(upstream.JSON(200, []byte(`{"filenameToSignedUrls":{"rows.jsonl":"`+r.up.URL()+`/bucket/rows?sig=1"}}`))))
	r.up.On("/bucket/rows", upstream.Always(upstream.Reply{}))
	r.up.On("/datasets/file-abc:validateUpload", upstream.Always(upstream.JSON(200, []byte(`{}`))))
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
		r.up.On("/datasets", upstream.Always(upstream.JSON(200, []byte(`{"name":"accounts/me/datasets/file-abc"}`))))
		r.up.On("/datasets/file-abc:getUploadEndpoint", upstream.Always(upstream.JSON(200, []byte(`{"filenameToSignedUrls":{"rows.jsonl":"`+address+`"}}`))))
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
	for name, reply := range map[string]upstream.Reply{
		"whole": upstream.Text(200, "binary/octet-stream", file),
		"cut":   {Pieces: []upstream.Piece{{Bytes: []byte(file)}}, Claim: int64(len(file)) + 1},
		"gone":  upstream.Text(404, "application/xml", "<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *dataplane.Settings) { s.MaxReplyBytes = 4 << 10 })
			r.up.On("/model-invocation-job/b1", upstream.Always(upstream.JSON(200, []byte(batchJob))))
			r.up.On("/acme/out/b1/rows.jsonl.out", upstream.Always(reply))
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

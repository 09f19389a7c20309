package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// uploaded is a form with a batch file of that many lines of 64 KiB.
func uploaded(lines int, line string) io.Reader {
	parts := []io.Reader{strings.NewReader("--x\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"rows.jsonl\"\r\n\r\n")}
	for range lines {
		parts = append(parts, strings.NewReader(line))
	}
	return io.MultiReader(append(parts, strings.NewReader("\r\n--x--\r\n"))...)
}

// An upload of 64 MiB passes through, its lines put into the provider's words, in less
// memory than half of it. It is not parallel, because memory is counted for the
// whole process.
func TestUploadsPassInLittleMemory(t *testing.T) {
	const lines = 1024
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // else the heap may double, and what other tests hold decides how much that is
	text := strings.Repeat("word ", 13<<10)
	chat := `{"custom_id":"1","url":"/v1/chat/completions","body":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + text + `"}]}}` + "\n"
	embed := `{"custom_id":"1","url":"/v1/embeddings","body":{"input":"` + text + `"}}` + "\n"
	aws := []string{"x-gateway-aws-access-key-id: AKID", "x-gateway-aws-secret-access-key: secret", "x-gateway-aws-s3-bucket: b", "x-gateway-aws-bedrock-model: amazon.nova-lite-v1:0"}
	for _, c := range []struct {
		provider, path, line, response string
		headers                        []string
	}{
		{"bedrock", "/b/rows.jsonl", chat, "", append(aws, "x-gateway-aws-s3-object-key: rows.jsonl")},
		{"cohere", "/v1/datasets", embed, `{"id":"d1"}`, nil},
		{"vertex-ai", "/b/rows.jsonl", chat, "", []string{"x-gateway-vertex-region: us-east1", "x-gateway-vertex-project-id: p", "x-gateway-vertex-storage-bucket-name: b", "x-gateway-provider-model: gemini-2.5-flash"}},
		{"anthropic", "/files", chat, `{"id":"file_1","type":"file","filename":"rows.jsonl","size_bytes":1}`, nil},
	} {
		t.Run(c.provider, func(t *testing.T) {
			r := newRig(t)
			r.up.Handle(c.path, upstream.Always(upstream.JSON(200, []byte(c.response))))
			req, err := http.NewRequest("POST", r.server.URL+"/v1/files", uploaded(lines, c.line))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(c.headers, "x-gateway-api-key: "+key, "content-type: multipart/form-data; boundary=x", "authorization: Bearer key-of-provider", "x-gateway-provider: "+c.provider, "x-gateway-custom-host: "+r.up.URL()) {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			debug.FreeOSMemory()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := r.do(req)
			runtime.ReadMemStats(&after)
			if want := fmt.Sprintf(`"bytes":%d`, lines*len(c.line)); a.StatusCode != 200 || c.provider != "anthropic" && !strings.Contains(a.Text, want) {
				t.Fatalf("%d %s, want %s", a.StatusCode, a.Text, want)
			}
			seen := r.up.Seen()[0]
			if seen.BodyErr != nil || seen.BodyBytes < lines*int64(len(text)) {
				t.Errorf("the provider got %d bytes, %v", seen.BodyBytes, seen.BodyErr)
			}
			// What the heap took from the system it gives back slowly, so that a peak shows.
			if grown := int64(after.HeapSys-after.HeapReleased) - int64(before.HeapSys-before.HeapReleased); grown > 32<<20 && !raceEnabled {
				t.Errorf("an upload of %d MiB took %d MiB of memory", seen.BodyBytes>>20, grown>>20)
			}
		})
	}
}

// A provider that stops taking an upload which is sent on as it comes is not waited for
// without end: nobody reads from the caller meanwhile, nor notices that he left.
func TestUploadThatIsNotTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = 200 * time.Millisecond })
	host, _ := silent(t)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "POST", r.server.URL+"/v1/uploads/u/parts", io.LimitReader(endless{}, 256<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"x-gateway-api-key: " + key, "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: " + host + "/v1", "content-type: application/octet-stream"} {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if a := r.do(req); a.StatusCode != http.StatusRequestTimeout {
		t.Errorf("answered %d %s", a.StatusCode, a.Text)
	}
	if row := r.journal.one(t); row.Outcome != record.Timeout {
		t.Errorf("on record as %s: %s", row.Outcome, row.Error)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

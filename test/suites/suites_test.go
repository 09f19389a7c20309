package suites

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

func TestGenerated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package a\nfunc TestA(t *testing.T) { os.LookupEnv(\"TEST_API_BASE_URL\") }\nfunc TestOwn(t *testing.T) { run(\"TEST_API\") }\nfunc help() { os.Getenv(\"TEST_API_BASE_URL\") }\n",
		"b_test.go": "package a_test\nfunc TestB(t *testing.T) { if true { base(`x`, \"TEST_API_BASE_URL\") } }\n",
		"c.go":      "package a\nfunc TestC() { os.Getenv(\"TEST_API_BASE_URL\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := generated(dir); err != nil || !slices.Equal(got, []string{"TestA", "TestB"}) {
		t.Errorf("%v: %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d_test.go"), []byte("no Go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := generated(dir); err == nil {
		t.Errorf("%v of a broken file", got)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	got := read("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:7: --- PASS: TestC (0.1s)\n=== RUN   TestB/x\n    --- PASS: TestB/x (0.00s)\n--- FAIL: TestB (0.00s)\n=== RUN   TestD\n--- SKIP: TestD (0.00s)\nFAIL\n")
	if len(got) != 3 || !got["TestA"].Passed || got["TestB"].Passed || got["TestD"].Passed {
		t.Errorf("%+v", got)
	}
	if out := got["TestB"].Output; !strings.Contains(out, "b_test.go:7") || strings.Contains(out, "TestA") {
		t.Errorf("output of B: %q", out)
	}
}

// What arrived in two runs is the same text, and what differs is not.
func TestRequests(t *testing.T) {
	t.Parallel()
	run := func(boundary, cursor, purpose string) []string {
		form := upstream.Seen{Method: "POST", Target: "/v1/files", Header: []upstream.Field{{Name: "Content-Type", Value: "multipart/form-data; boundary=" + boundary}}, Body: []byte("--" + boundary + "\r\n\r\n" + purpose + "\r\n--" + boundary + "--\r\n")}
		list := upstream.Seen{Method: "GET", Target: "/v1/jobs?after=" + cursor}
		return Requests([]upstream.Seen{{Method: "GET", Target: "/v1"}, form, list}, "/v1")
	}
	one, same, other := run("one", "2026-01-02T03%3A04%3A05Z", "batch"), run("two", "2026-11-20T15%3A22%3A13Z", "batch"), run("two", "2026-11-20T15%3A22%3A13Z", "vision")
	if len(one) != 2 || !strings.HasPrefix(one[0], "GET /v1/jobs") {
		t.Errorf("%q", one)
	}
	if !slices.Equal(one, same) || slices.Equal(one, other) {
		t.Errorf("%q, %q, %q", one, same, other)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/v1/files/file_id", "/v1/anything"} {
		full := Accept(upstream.Seen{Target: path + "?beta=true", Body: []byte(`{"stream":false}`)})
		if !json.Valid(full.Chunks[0].Bytes) {
			t.Errorf("%s: %s", path, full.Chunks[0].Bytes)
		}
		if (path == "/v1/anything") != (string(full.Chunks[0].Bytes) == "{}") {
			t.Errorf("%s: %s", path, full.Chunks[0].Bytes)
		}
		if stream := Accept(upstream.Seen{Target: path, Body: []byte(`{"stream":true}`)}); len(stream.Chunks) < 2 || stream.Framing != upstream.Chunked {
			t.Errorf("%s does not stream: %+v", path, stream)
		}
	}
}

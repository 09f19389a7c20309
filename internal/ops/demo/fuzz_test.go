package demo_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/ops/demo"
)

// FuzzRequests: no body makes an endpoint fail otherwise than by a refusal, and
// whole JSON answers are JSON.
func FuzzRequests(f *testing.F) {
	paths := []string{
		"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/moderations", "/v1/rerank",
		"/v1/images/generations", "/v1/audio/speech", "/v1/batches", "/v1/fine_tuning/jobs", "/v1/audio/transcriptions", "/v1/images/edits", "/v1/files",
	}
	f.Add(0, `{"model":"m","messages":[{"role":"user","content":[{"text":"x"},1]}],"tools":[{"function":{"name":"x","parameters":{"allOf":[{"$ref":"#/tools"}]}}}],"tool_choice":"required"}`)
	f.Add(0, `{"model":"m","stream":true,"max_tokens":-1,"messages":[{"role":"tool"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"enum":[]}}}}`)
	f.Add(1, `{"model":"m","prompt":[[1],"x",{}],"n":3,"stream":true}`)
	f.Add(2, `{"model":"m","input":[1,2],"dimensions":1,"encoding_format":"base64"}`)
	f.Add(3, `{"model":"m","input":[{"type":"function_call_output","output":[]}],"tools":[{}],"stream":true}`)
	f.Add(5, `{"model":"m","query":" ","documents":[{}],"top_n":9}`)
	f.Add(10, "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nRIFF0000WAVE\r\n--b--\r\n")
	h := demo.Handler()
	f.Fuzz(func(t *testing.T, path int, body string) {
		if path < 0 {
			return
		}
		target := paths[path%len(paths)]
		r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
		if path%len(paths) >= 10 {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: no JSON: %s", target, w.Body)
		}
	})
}

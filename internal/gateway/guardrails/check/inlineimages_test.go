package check_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/wire"
)

const png = "\x89PNG\r\n\x1a\nrest"

// gallery serves images, and responses that are not images.
func gallery(t *testing.T) (string, chan received) {
	t.Helper()
	return recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a.png":
			_, _ = io.WriteString(w, png)
		case "/b.heic":
			_, _ = io.WriteString(w, "\x00\x00\x00\x18ftypheicrest")
		case "/moved":
			http.Redirect(w, r, "/a.png", http.StatusFound)
		case "/private":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "<html>secret")
		case "/large":
			_, _ = io.WriteString(w, png+strings.Repeat("x", 2000))
		case "/slow":
			hanging(w, r)
		default:
			w.WriteHeader(404)
		}
	})
}

func TestInlineImageUrls_ReplaceURLsByImages(t *testing.T) {
	t.Parallel()
	url, requests := gallery(t)
	encoded := base64.StdEncoding.EncodeToString([]byte(png))
	heic := base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x18ftypheicrest"))
	for _, c := range []struct{ name, body, want string }{
		{"chat completions", ` {"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"detail":"low","url":"URL/a.png"}},{"type":"text","text":"URL/a.png"}]}]}`,
			` {"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"detail":"low","url":"data:image/png;base64,` + encoded + `"}},{"type":"text","text":"URL/a.png"}]}]}`},
		{"Responses", `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"URL/b.heic"}]}]}`,
			`{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/heic;base64,` + heic + `"}]}]}`},
		{"Messages", `{"messages":[{"role":"user","content":[{"source":{"type":"url","url":"URL/a.png"},"type":"image"}]}]}`,
			`{"messages":[{"role":"user","content":[{"source":{"type":"base64","media_type":"image/png","data":"` + encoded + `"},"type":"image"}]}]}`},
		{"a tool result", `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"url","url":"URL/moved"}}]}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + encoded + `"}}]}]}]}`},
		{"a document", `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"URL/a.png"}}]}]}`, ""},
		{"a data URL", `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`, ""},
		{"a URL elsewhere", `{"tools":[{"image_url":"URL/a.png"}],"messages":[{"role":"user","content":"URL/a.png"}]}`, ""},
		{"what is not an image", `{"messages":[{"content":[{"image_url":{"url":"URL/page"}}]}]}`, ""},
		{"a missing image", `{"messages":[{"content":[{"image_url":{"url":"URL/none"}}]}]}`, ""},
		{"a redirect to a private address", `{"messages":[{"content":[{"image_url":{"url":"URL/private"}}]}]}`, ""},
		{"a private address", `{"messages":[{"content":[{"image_url":{"url":"http://192.168.1.1/a.png"}}]}]}`, ""},
		{"one of two", `{"messages":[{"content":[{"image_url":{"url":"URL/none"}},{"image_url":{"url":"URL/a.png"}}]}]}`,
			`{"messages":[{"content":[{"image_url":{"url":"URL/none"}},{"image_url":{"url":"data:image/png;base64,` + encoded + `"}}]}]}`},
	} {
		c.body, c.want = strings.ReplaceAll(c.body, "URL", url), strings.ReplaceAll(c.want, "URL", url)
		in := &check.Input{Body: []byte(c.body), Header: wire.Header{{Name: "authorization", Value: "Bearer client-secret"}}}
		got := run(t, outside(t), "default.inlineImageUrls", `{}`, in)
		t.Log(c.name)
		compare(t, &got, true, "", "")
		if string(got.Body) != c.want {
			t.Errorf("body %s, want %s", got.Body, c.want)
		}
	}
	for range len(requests) {
		if r := <-requests; r.method != "GET" || r.header.Get("Authorization") != "" {
			t.Errorf("request %s %v", r.method, r.header)
		}
	}
}

func TestInlineImageUrls_FailuresLeaveTheURLUnlessTheyAreErrors(t *testing.T) {
	t.Parallel()
	url, _ := gallery(t)
	body := func(path string) *check.Input {
		return &check.Input{Provider: "openai", Body: []byte(`{"messages":[{"content":[{"image_url":{"url":"` + url + path + `?key=hidden"}}]}]}`)}
	}
	for _, c := range []struct{ name, parameters, path, failure string }{
		{"too large", `{"maxSizeBytes":1000}`, "/large", "too large"},
		{"too slow", `{"timeoutMs":200}`, "/slow", "no response in 200 ms"},
		{"not an image", `{}`, "/page", "not a PNG"},
		{"missing", `{}`, "/none", "status 404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, outside(t), "default.inlineImageUrls", c.parameters, body(c.path))
			compare(t, &got, true, "", `{"inlinedImages":0}`)
			strict := strings.Replace(c.parameters, "{", `{"failOnError":true,`, 1)
			strict = strings.Replace(strict, ",}", "}", 1)
			got = run(t, outside(t), "default.inlineImageUrls", strict, body(c.path))
			compare(t, &got, false, c.failure, "")
			if strings.Contains(got.Error.Message, "hidden") {
				t.Errorf("the error quotes the query: %s", got.Error.Message)
			}
		})
	}
	got := run(t, outside(t), "default.inlineImageUrls", `{"providers":["bedrock"],"failOnError":true}`, body("/none"))
	compare(t, &got, true, "", `{"explanation":"the check is not enabled for this provider"}`)
	runRefusals(t, "default.inlineImageUrls", refusals{`{"maxSizeBytes":0}`: ".maxSizeBytes: an integer from 1", `{"timeoutMs":-1}`: ".timeoutMs: an integer from 1"})
}

func FuzzInlineImageUrls(f *testing.F) {
	f.Add([]byte(`{"messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://a/b"}},{"image_url":"http://c"}]}]}`))
	f.Add([]byte(`{"input":[[[[{"content":{"source":`))
	r := open(f, "default.inlineImageUrls", `{}`, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := r.Run(t.Context(), &check.Input{Body: body}); got.Body != nil || !got.Verdict {
			t.Fatalf("%q: %v %q", body, got.Verdict, got.Body)
		}
	})
}

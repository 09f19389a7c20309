package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// FuzzPassThrough sends anything anywhere: it arrives byte for byte, or is refused
// without being sent.
func FuzzPassThrough(f *testing.F) {
	for _, target := range []string{"/files/a%2Fb", "/x?y=%20&z=[]", "/a//b", "/a/../b", "/%2e%2e/x", "/x;y=1/:z", "/é", "/%zz", "/a b", "//host/x", "/x?#y", "/@y", "/x%5C..%5Cy"} {
		f.Add(target, []byte("{\"a\" : 1}\n"), []byte("data: x\n\n: c\n\n"), 200)
	}
	f.Add("/x", []byte(nil), []byte("\xff\x00\r\n"), 503)
	r := newRig(f)
	f.Fuzz(func(t *testing.T, target string, requestBody, responseBody []byte, status int) {
		if status < 200 || status > 599 || !hasBody(status) || strings.ContainsAny(target, "\r\n ") || !strings.HasPrefix(target, "/") {
			t.Skip("no request line can say that")
		}
		r.t = t
		r.checkPassThrough("POST", "/x"+target, requestBody, upstream.Text(status, "application/x-any", string(responseBody)))
	})
}

// FuzzSplice sends anything as a chat through a config that edits it: what is sent
// on has the members of what came, in their order and with their very bytes, but for
// the edited ones. What is no JSON is refused.
func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"model":"a","messages":[]}`))
	f.Add([]byte(" {\"m\\u006fdel\" :\"a\" , \"messages\":[ {} ],\r\n\"user\":null,\"temperature\":-0.0e-1,\"vendor\":{\"x\":[]}, \"top_p\":null} \n"))
	f.Add([]byte(`{"user":"u","vendor":1,"messages":0,"model":"b"}`))
	f.Add([]byte(`{"model":"a","messages":[],"top_p":1,"top_p":2}`))
	f.Add([]byte("{\"model\":\"a\",\"messages\":\"\xff\xed\xa0\x80\\ud800\"}"))
	f.Add([]byte(`{"model":"@openai/x","messages":[]} {}`))
	r := newRig(f)
	r.up.Script(upstream.Always(upstream.JSON(200, map[string]any{"object": "chat.completion", "choices": []any{}})))
	f.Fuzz(func(t *testing.T, body []byte) {
		r.t = t
		before := r.up.Total()
		a := r.call(chat(splicing, string(body)))
		if r.up.Total() == before {
			if a.first < "400" {
				t.Fatalf("answered %s without being sent", a.first)
			}
			return
		}
		came, err := members(body)
		if err != nil {
			t.Fatalf("%q was sent on although it is no JSON object: %v", body, err)
		}
		sent := r.up.Seen()[before].Body
		went, err := members(sent)
		if err != nil {
			t.Fatalf("%q became %q, which is no JSON object: %v", body, sent, err)
		}
		if want := expected(came); strings.Join(went, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q became %q", body, sent)
		}
	})
}

// expected is what splicing makes of the members of a body, each "name=raw value".
func expected(came []string) []string {
	var out []string
	has := map[string]bool{}
	for _, m := range came {
		name, _, _ := strings.Cut(m, "=")
		has[name] = true
		switch name {
		case "user", "vendor":
		case "model":
			out = append(out, `model="gpt-4.1-mini"`)
		case "temperature":
			out = append(out, "temperature=0.5")
		default:
			out = append(out, m)
		}
	}
	for _, m := range []string{"top_p=0.9", `model="gpt-4.1-mini"`, "temperature=0.5"} {
		if name, _, _ := strings.Cut(m, "="); !has[name] {
			out = append(out, m)
		}
	}
	return out
}

// members reads an object with encoding/json and returns its members in order.
func members(body []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("it begins with %v: %w", open, err)
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s=%s", name, raw))
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the object")
	}
	return out, nil
}

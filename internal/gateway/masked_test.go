package gateway_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// toolSecret stands in every body of these tests.
const toolSecret = "SECRET-of-a-tool-server"

// carrying are calls of each surface with a credential in the request, and answers that
// repeat it.
var carrying = []struct {
	name, path, body, response, want string // want is in what is kept of the request
	events                           []string
}{
	{
		name: "responses", path: "/v1/responses",
		body:     `{"model":"gpt-4o-mini","input":"Hi","tools":[{"type":"mcp","server_label":"s","server_url":"https://u:` + toolSecret + `@t.example/mcp","headers":{"x-api-key":"` + toolSecret + `"},"authorization":"` + toolSecret + `"}]}`,
		response: `{"id":"resp_1","object":"response","status":"completed","model":"gpt-4o-mini","output":[],"tools":[{"type":"mcp","headers":{"x-api-key":"` + toolSecret + `"},"authorization":"` + toolSecret + `"}],"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`,
		want:     `"server_url":"https://***@t.example/mcp","headers":{"x-api-key":"***"},"authorization":"***"`,
		events: []string{
			"event: response.created\ndata: " + `{"type":"response.created","response":{"id":"resp_1","status":"in_progress","model":"gpt-4o-mini","tools":[{"authorization":"` + toolSecret[:9],
			toolSecret[9:] + `"}]}}` + "\n\n",
			"event: response.completed\ndata: " + `{"type":"response.completed","response":{"id":"resp_1","status":"completed","model":"gpt-4o-mini","output":[],"tools":[{"headers":{"a":"` + toolSecret + `"}}],"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}}` + "\n\n",
		},
	},
	{
		name: "chat with a data source", path: "/v1/chat/completions",
		body:     `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"data_sources":[{"type":"azure_search","parameters":{"endpoint":"https://s.example","authentication":{"type":"api_key","key":"` + toolSecret + `"}}}],"extra_headers":{"a":"` + toolSecret + `"}}`,
		response: `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"data_sources":[{"parameters":{"key":"` + toolSecret + `"}}],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}`,
		want:     `"authentication":{"type":"api_key","key":"***"}`,
		events:   []string{`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}],"extra_headers":{"a":"` + toolSecret + `"}}` + "\n\n", "data: [DONE]\n\n"},
	},
	{
		name: "pass-through", path: "/v1/unknown/things",
		body:     `{"mcp_servers":[{"type":"url","url":"https://m.example/?token=` + toolSecret + `","authorization_token":"` + toolSecret + `"}]}`,
		response: `{"session":{"tools":[{"type":"mcp","authorization":"` + toolSecret + `"}]},"value":"ek_` + toolSecret + `"}`,
		want:     `"url":"https://m.example/?token=***","authorization_token":"***"`,
		events:   []string{`data: {"client_secret":{"value":"` + toolSecret + `"}}` + "\n\n"},
	},
}

// shown fails the test when a body of a record has any part of the credential that is
// longer than the word "SECRET".
func shown(t *testing.T, name string, row *record.Attempt) {
	t.Helper()
	for i, b := range row.Bodies() {
		if plain := b.Plain(1 << 20); bytes.Contains(plain, []byte(toolSecret[:6])) {
			t.Errorf("%s: body %d of the record is %s", name, i, plain)
		}
	}
}

// What travels is unchanged in both directions, and what is kept of it has no credential:
// whole, streamed in pieces, encoded, and cut.
func TestCredentialsInBodiesAreNotOnRecord(t *testing.T) {
	t.Parallel()
	for _, c := range carrying {
		for _, way := range []string{"whole", "streamed", "encoded", "cut"} {
			t.Run(c.name+" "+way, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(s *gateway.Settings) {
					if way == "cut" {
						s.BodyLogBytes = strings.LastIndex(c.body, toolSecret) + 4
					}
				})
				script := upstream.JSON(200, []byte(c.response))
				body := c.body
				switch way {
				case "streamed":
					script, body = events(c.events...), strings.Replace(body, "{", `{"stream":true,`, 1)
				case "encoded":
					script = upstream.JSON(200, zip(t, c.response))
					script.Header = append(script.Header, upstream.Field{Name: "Content-Encoding", Value: "gzip"})
				}
				r.up.Handle(c.path, upstream.Always(script))
				a := r.call("POST", c.path, body, r.custom()...)
				row, seen := r.journal.one(t), r.up.Seen()[0]
				if a.StatusCode != 200 || strings.Count(string(seen.Body), toolSecret) != strings.Count(body, toolSecret) {
					t.Errorf("%d %s; the provider got %s", a.StatusCode, a.Text, seen.Body)
				}
				if !strings.Contains(a.Text, toolSecret) && a.Header.Get("content-encoding") == "" {
					t.Errorf("the client got %s", a.Text)
				}
				shown(t, c.name, &row)
				if way != "cut" && !strings.Contains(string(row.Request.Bytes), c.want) {
					t.Errorf("the request is kept as %s", row.Request.Bytes)
				}
				if way == "cut" && (!row.Request.Truncated || !bytes.Contains(row.Request.Bytes, []byte("***"))) {
					t.Errorf("the request is kept as %s, truncated: %t", row.Request.Bytes, row.Request.Truncated)
				}
			})
		}
	}
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A config that changes the body, and a provider of another shape: the client's own
// request is on record beside the one that was sent, both without the credential.
func TestCredentialsInBothSidesAreNotOnRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, []byte(carrying[0].response))))
	r.call("POST", "/v1/responses", carrying[0].body, "x-gateway-config: "+`{"provider":"openai","api_key":"sk-upstream","custom_host":"`+r.up.URL()+`/v1","override_params":{"temperature":0}}`)
	r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(200, []byte(speakers[1].response))))
	r.call("POST", "/v1/responses", carrying[0].body, r.as(speakers[1])...)
	for i, row := range r.journal.all() {
		shown(t, row.Provider, &row)
		if i == 0 && !row.ClientRequest.Other() {
			t.Error("the client's request is not kept")
		}
	}
	if n := len(r.journal.all()); n == 0 {
		t.Errorf("%d records", n)
	}
}

// Of a form the fields are kept.
func TestCredentialsInFormsAreNotOnRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/images/edits", upstream.Always(upstream.JSON(200, []byte(`{"created":1,"data":[]}`))))
	const line = "--b\r\nContent-Disposition: form-data; name="
	body := line + "\"model\"\r\n\r\ngpt-image-1\r\n" + line + "\"prompt\"\r\n\r\nx\r\n" + line + "\"extra_headers\"\r\n\r\n{\"a\":\"" + toolSecret + "\"}\r\n" + line + "\"webhook_secret\"\r\n\r\n" + toolSecret + "\r\n" +
		line + "\"image\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--b--\r\n"
	a := r.call("POST", "/v1/images/edits", body, r.custom("content-type: multipart/form-data; boundary=b")...)
	row := r.journal.one(t)
	shown(t, "form", &row)
	if a.StatusCode != 200 || !bytes.Contains(row.Request.Bytes, []byte(`webhook_secret`)) {
		t.Errorf("%d %s; kept %s", a.StatusCode, a.Text, row.Request.Bytes)
	}
}

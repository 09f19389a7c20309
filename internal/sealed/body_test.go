package sealed_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/sealed"
)

// secretBodies are bodies of each surface that carry the text SECRET in a credential field,
// and what they are when it is masked.
var secretBodies = map[string]struct{ body, want string }{
	"headers of a tool on Responses": {
		`{"model":"m","tools":[{"type":"mcp","server_url":"https://t.example/mcp","headers":{"X-Api-Key":"SECRET","x-n":"SECRET\"2"}}]}`,
		`{"model":"m","tools":[{"type":"mcp","server_url":"https://t.example/mcp","headers":{"X-Api-Key":"***","x-n":"***"}}]}`,
	},
	"authorization of a tool":     {`{"tools":[{"type":"mcp","authorization":"SECRET"}],"input":"x"}`, `{"tools":[{"type":"mcp","authorization":"***"}],"input":"x"}`},
	"address of a tool server":    {`{"tools":[{"server_url":"https://u:SECRET@t.example/mcp?token=SECRET&a=1"}]}`, `{"tools":[{"server_url":"https://***@t.example/mcp?token=***&a=1"}]}`},
	"server of Messages":          {`{"mcp_servers":[{"type":"url","url":"https://m.example?key=SECRET","authorization_token":"SECRET"}]}`, `{"mcp_servers":[{"type":"url","url":"https://m.example?key=***","authorization_token":"***"}]}`},
	"session of realtime":         {`{"type":"session.update","session":{"tools":[{"type":"mcp","headers":{"a":"SECRET"}}]}}`, `{"type":"session.update","session":{"tools":[{"type":"mcp","headers":{"a":"***"}}]}}`},
	"key of a realtime session":   {`{"value":"ek_SECRET","expires_at":1}`, `{"value":"***","expires_at":1}`},
	"older key of such a session": {`{"client_secret":{"value":"SECRET","expires_at":1}}`, `{"client_secret":{"value":"***","expires_at":1}}`},
	"data source by key":          {`{"data_sources":[{"type":"azure_search","parameters":{"authentication":{"type":"api_key","key":"SECRET"}}}]}`, `{"data_sources":[{"type":"azure_search","parameters":{"authentication":{"type":"api_key","key":"***"}}}]}`},
	"data source by token":        {`{"data_sources":[{"parameters":{"authentication":{"type":"access_token","access_token":"SECRET"}}}]}`, `{"data_sources":[{"parameters":{"authentication":{"type":"access_token","access_token":"***"}}}]}`},
	"data source by key id":       {`{"data_sources":[{"parameters":{"authentication":{"key_id":"id","key":"SECRET"}}}]}`, `{"data_sources":[{"parameters":{"authentication":{"key_id":"id","key":"***"}}}]}`},
	"data source by connection":   {`{"data_sources":[{"parameters":{"authentication":{"connection_string":"mongodb://SECRET"}}}]}`, `{"data_sources":[{"parameters":{"authentication":{"connection_string":"***"}}}]}`},
	"older data source":           {`{"dataSources":[{"parameters":{"key":"SECRET","embeddingKey":"SECRET","indexName":"i"}}]}`, `{"dataSources":[{"parameters":{"key":"***","embeddingKey":"***","indexName":"i"}}]}`},
	"embedding of a data source":  {`{"data_sources":[{"parameters":{"embedding_dependency":{"authentication":{"key":"SECRET"}}}}]}`, `{"data_sources":[{"parameters":{"embedding_dependency":{"authentication":{"key":"***"}}}}]}`},
	"retrieval of Vertex AI":      {`{"tools":[{"retrieval":{"externalApi":{"apiAuth":{"apiKeyConfig":{"apiKeyString":"SECRET"}}}}}]}`, `{"tools":[{"retrieval":{"externalApi":{"apiAuth":{"apiKeyConfig":{"apiKeyString":"***"}}}}}]}`},
	"maps of Vertex AI":           {`{"tools":[{"googleMaps":{"authConfig":{"apiKeyConfig":{"apiKeyString":"SECRET"}}}}]}`, `{"tools":[{"googleMaps":{"authConfig":{"apiKeyConfig":{"apiKeyString":"***"}}}}]}`},
	"servers of Gemini":           {`{"tools":[{"mcpServers":[{"streamableHttpTransport":{"headers":{"A":"SECRET"}}}]}]}`, `{"tools":[{"mcpServers":[{"streamableHttpTransport":{"headers":{"A":"***"}}}]}]}`},
	"fields of Bedrock":           {`{"additionalModelRequestFields":{"mcp_servers":[{"authorization_token":"SECRET"}]}}`, `{"additionalModelRequestFields":{"mcp_servers":[{"authorization_token":"***"}]}}`},
	"secrets of a container":      {`{"tools":[{"container":{"network_policy":{"domain_secrets":[{"domain":"d","name":"n","value":"SECRET"}]}}}]}`, `{"tools":[{"container":{"network_policy":{"domain_secrets":[{"domain":"d","name":"n","value":"***"}]}}}]}`},
	"extra headers":               {`{"extra_headers":{"a":"SECRET","n":[1,true,null,"SECRET"]}}`, `{"extra_headers":{"a":"***","n":["***","***",null,"***"]}}`},
	"secret of a webhook":         {`{"webhook":{"url":"https://h.example/x?a=SECRET","secret":"SECRET"}}`, `{"webhook":{"url":"https://h.example/x?a=***","secret":"***"}}`},
	"address of a webhook":        {`{"webhook_url":"https://u:SECRET@h.example/x"}`, `{"webhook_url":"https://***@h.example/x"}`},
	"batch line":                  {"{\"body\":{\"tools\":[{\"authorization\":\"SECRET\"}]}}\n{\"body\":{\"tools\":[{\"authorization\":\"SECRET\"}]}}", "{\"body\":{\"tools\":[{\"authorization\":\"***\"}]}}\n{\"body\":{\"tools\":[{\"authorization\":\"***\"}]}}"},
	"spaces and lines":            {"{ \"tools\" :\n [ {\n\n \"authorization\" :\n \"SECRET\" } ] }", "{ \"tools\" :\n [ {\n\n \"authorization\" :\n \"***\" } ] }"},
	"name with escapes":           {`{"tools":[{"\u0061uthorizatio\u006e":"SECRET"}]}`, `{"tools":[{"\u0061uthorizatio\u006e":"***"}]}`},
	"JSON in a text":              {`{"attributes":{"llm.request":"{\"tools\":[{\"authorization\":\"SECRET\",\"n\":\"<&>\"}]}"}}`, `{"attributes":{"llm.request":"{\"tools\":[{\"authorization\":\"***\",\"n\":\"<&>\"}]}"}}`},
	"cut in a credential":         {`{"tools":[{"headers":{"a":"SECRE`, `{"tools":[{"headers":{"a":"***`},
	"cut in an escape":            {`{"tools":[{"headers":{"a":"SECRET\u00`, `{"tools":[{"headers":{"a":"***`},
	"cut in JSON in a text":       {`{"body":"{\"tools\":[{\"authorization\":\"SECRET\u00`, `{"body":"{\"tools\":[{\"authorization\":\"***`},
	"stream of events":            {"event: response.created\ndata: {\"response\":{\"tools\":[{\"authorization\":\"SECRET\"}]}}\n\ndata: [DONE]\n\n", "event: response.created\ndata: {\"response\":{\"tools\":[{\"authorization\":\"***\"}]}}\n\ndata: [DONE]\n\n"},
	"event that is cut off":       {"data: {\"a\":{\"b\":\"x\n\ndata: {\"tools\":[{\"authorization\":\"SECRET\"}]}\r\n\r\n", "data: {\"a\":{\"b\":\"x\n\ndata: {\"tools\":[{\"authorization\":\"***\"}]}\r\n\r\n"},
	"event over lines":            {"data: {\"tools\":\ndata: [{\"authorization\":\ndata: \"SECRET\"}]}\n\n", "data: {\"tools\":\ndata: [{\"authorization\":\ndata: \"***\"}]}\n\n"},
	"header of a span":            {`{"http.request.header.authorization":["SECRET"]}`, `{"http.request.header.authorization":["***"]}`},
	"credential of a cloud":       {`{"aws_secret_access_key":"SECRET","region":"r"}`, `{"aws_secret_access_key":"***","region":"r"}`},
	"twins":                       {`{"tools":[{"authorization":"SECRET","authorization":"SECRET"}]}`, `{"tools":[{"authorization":"***","authorization":"***"}]}`},
}

func TestCredentialsOfBodiesAreMasked(t *testing.T) {
	t.Parallel()
	for name, c := range secretBodies {
		before := c.body
		got := string(sealed.Body("application/json", []byte(c.body)))
		if got != c.want || before != c.body {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
		if again := string(sealed.Body("", []byte(got))); again != got {
			t.Errorf("%s: masked twice it is %s", name, again)
		}
		if json.Valid([]byte(c.body)) && !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON any more: %s", name, got)
		}
	}
}

// Wherever a body is cut, what is kept of it shows no part of the secret but its first
// bytes' absence: none at all.
func TestBodiesCutAnywhereShowNoCredential(t *testing.T) {
	t.Parallel()
	for name, c := range secretBodies {
		for n := range c.body {
			if got := string(sealed.Body("", []byte(c.body[:n]))); strings.Contains(got, "SEC") {
				if i := strings.Index(got, "SEC"); !unmaskable(c.body[:n]) {
					t.Errorf("%s, cut at %d: %s", name, n, got[max(0, i-20):])
					break
				}
			}
		}
	}
}

// unmaskable reports whether the cut took away what says that an address holds a user.
func unmaskable(cut string) bool {
	return strings.HasSuffix(cut[:strings.LastIndex(cut, "SEC")], "://u:")
}

func TestOtherBodiesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"chat":              `{"model":"m","messages":[{"role":"user","content":"key: \"authorization\": x"}]}`,
		"schema of a tool":  `{"tools":[{"type":"function","function":{"parameters":{"properties":{"authorization":{"type":"string","description":"d"},"headers":{"type":"object"},"extra_headers":{"type":"object"},"key":{"type":"string"}},"required":["api_key"]}}}]}`,
		"key of no source":  `{"metadata":{"key":"k","headers":{"a":"b"},"value":"v","url":"https://a.example/?page=1"}}`,
		"thinking":          `{"content":[{"type":"thinking","signature":"c2ln"}],"usage":{"total_tokens":3}}`,
		"empty credentials": `{"tools":[{"authorization":"","headers":{}}],"api_key":null}`,
		"code in prose":     `{"messages":[{"role":"user","content":"Why does curl -d '{\"api_key\":\"k\"}' fail?"}]}`,
		"no JSON":           "\x00\x01\"authorization\":\xff{{{[[",
	} {
		in := []byte(body)
		if got := sealed.Body("", in); string(got) != body {
			t.Errorf("%s: %s", name, got)
		}
		if name != "no JSON" && sealed.Masked(in) != "" {
			t.Errorf("%s counts as masked at %s", name, sealed.Masked(in))
		}
	}
}

func TestABodyWithoutCredentialsTakesNoMemory(t *testing.T) {
	body := []byte(`{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"headers":{"type":"object"}}}}}],"messages":[{"role":"user","content":"Hello"}]}`)
	if n := testing.AllocsPerRun(100, func() { sealed.Body("application/json", body) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAMaskedCredentialIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"tools":[{},{"headers":{"X-Key":"***"}}]}`:                              "tools[1].headers.X-Key",
		`{"mcp_servers":[{"authorization_token":"***"}]}`:                         "mcp_servers[0].authorization_token",
		`{"tools":[{"server_url":"https://t.example/?token=***"}]}`:               "tools[0].server_url",
		`{"messages":[{"role":"user","content":"*** and \"authorization\": x"}]}`: "",
	} {
		if got := sealed.Masked([]byte(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestFormsAreMasked(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"webhook_secret", "SECRET", "***"},
		{"extra_headers[x-api-key]", "SECRET", "***"},
		{"tools[0][authorization]", "SECRET", "***"},
		{"tools", `[{"type":"mcp","authorization":"SECRET"}]`, `[{"type":"mcp","authorization":"***"}]`},
		{"extra_headers", `{"a":"SECRET"}`, `{"a":"***"}`},
		{"extra_headers", `{"a":"SECR`, `{"a":"***`},
		{"webhook_url", "https://u:SECRET@h.example/", "https://***@h.example/"},
		{"prompt", "a key: x", "a key: x"},
	} {
		if got := string(sealed.FormValue(c[0], []byte(c[1]))); got != c[2] {
			t.Errorf("%s=%s: got %s, want %s", c[0], c[1], got, c[2])
		}
	}
	if got := string(sealed.Body("application/x-www-form-urlencoded; charset=utf-8", []byte("grant_type=x&client_secret=SECRET&a=b"))); got != "grant_type=x&client_secret=***&a=b" {
		t.Error(got)
	}
}

// A form that is relayed as it came, and its beginning.
func TestMultipartFormsAreMasked(t *testing.T) {
	t.Parallel()
	const kind, line = `multipart/form-data; boundary="b 1"`, "--b 1\r\nContent-Disposition: form-data; name="
	form := line + "\"file\"; filename=\"a\"\r\n\r\n{\"api_key\":\"in a file\"}\r\n" + line + "\"client_secret\"\r\n\r\nSECRET\r\n" + line + "\"n\"\r\n\r\n1\r\n" + line + "\"tools\"\r\n\r\n[{\"authorization\":\"SECRET\"}]\r\n--b 1--\r\n"
	want := strings.ReplaceAll(form, "SECRET", "***")
	if got := string(sealed.Body(kind, []byte(form))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := range form {
		if got := string(sealed.Body(kind, []byte(form[:n]))); strings.Contains(got, "SEC") {
			t.Fatalf("cut at %d: %q", n, got)
		}
	}
	if got := string(sealed.Body("multipart/form-data", []byte(form))); got != form {
		t.Errorf("without a boundary: %q", got)
	}
}

func BenchmarkBody(b *testing.B) {
	chat := []byte(`{"model":"m","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat("You are: brief. ", 20) + `"},{"role":"user","content":"Hello"}],"temperature":0.5,"user":"u","metadata":{"a":"b"}}`)
	for name, body := range map[string][]byte{"chat": chat, "long": bytes.Repeat(chat, 150), "tools": []byte(`{"tools":[{"function":{"parameters":{"properties":{"headers":{"type":"object"}}}}}],"x":` + string(chat) + `}`)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				sealed.Body("application/json", body)
			}
		})
	}
}

func FuzzBody(f *testing.F) {
	for _, c := range secretBodies {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := sealed.Body("application/json", b)
		if json.Valid(b) && !json.Valid(got) {
			t.Errorf("%q became %q", b, got)
		}
		sealed.Masked(b)
	})
}

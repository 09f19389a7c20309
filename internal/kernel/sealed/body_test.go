package sealed_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
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
	"credentials of Vertex AI":    {`{"vertex_credentials":"{\"private_key\":\"SECRET\"}","vertexCredentials":{"a":["SECRET"]}}`, `{"vertex_credentials":"***","vertexCredentials":{"a":["***"]}}`},
	"token of Azure":              {`{"model":"m","azure_ad_token":"SECRET","extra_body":{"azure_ad_token":"SECRET"}}`, `{"model":"m","azure_ad_token":"***","extra_body":{"azure_ad_token":"***"}}`},
	"headers":                     {`{"metadata":{"headers":{"X-Key":"SECRET","n":1,"list":["SECRET"],"Content-Type":"text/plain","accept":"*/*"}}}`, `{"metadata":{"headers":{"X-Key":"***","n":"***","list":["***"],"Content-Type":"text/plain","accept":"*/*"}}}`},
	"headers in a list":           {`{"request":{"headers":[{"name":"x-key","value":"SECRET"}]}}`, `{"request":{"headers":[{"name":"x-key","value":"***"}]}}`},
	"headers of tools as object":  {`{"tools":{"headers":{"a":"SECRET"},"token":"SECRET","s":{"headers":{"a":"SECRET"}}}}`, `{"tools":{"headers":{"a":"***"},"token":"***","s":{"headers":{"a":"***"}}}}`},
	"server of a tool":            {`{"tools":[{"mcp":{"server_url":"https://u:SECRET@t.example","headers":{"a":"SECRET"},"authorization":{"type":"bearer","token":"SECRET"}}},{"server":{"url":"https://t.example/?key=SECRET","headers":{"a":"SECRET"},"authorization":"SECRET","token":"SECRET"}}]}`, `{"tools":[{"mcp":{"server_url":"https://***@t.example","headers":{"a":"***"},"authorization":{"type":"bearer","token":"***"}}},{"server":{"url":"https://t.example/?key=***","headers":{"a":"***"},"authorization":"***","token":"***"}}]}`},
	"authorization as an object":  {`{"tools":[{"type":"mcp","authorization":{"type":"oauth","token":"SECRET","n":7}}]}`, `{"tools":[{"type":"mcp","authorization":{"type":"oauth","token":"***","n":"***"}}]}`},
	"names in the body itself":    {`{"password":"SECRET","token":"SECRET","secret":"SECRET","credentials":{"user":"SECRET"},"tools":[{"password":"SECRET","token":"SECRET","secret":"SECRET"}]}`, `{"password":"***","token":"***","secret":"***","credentials":{"user":"***"},"tools":[{"password":"***","token":"***","secret":"***"}]}`},
	"names in a line of a batch":  {`{"custom_id":"a","body":{"token":"SECRET"}}`, `{"custom_id":"a","body":{"token":"***"}}`},
	"addresses":                   {`{"api_base":"https://u:SECRET@a.example/v1","base_url":"https://u:SECRET@a.example","x":{"url":"https://u:SECRET@a.example","uri":"https://a.example/?sig=SECRET"}}`, `{"api_base":"https://***@a.example/v1","base_url":"https://***@a.example","x":{"url":"https://***@a.example","uri":"https://a.example/?sig=***"}}`},
	"signed picture on chat":      {`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://b.example/a.png?X-Amz-Date=1&X-Amz-Signature=SECRET"}}]}]}`, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://b.example/a.png?X-Amz-Date=1&X-Amz-Signature=***"}}]}]}`},
	"signed files on Responses":   {`{"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://b.example/a?sv=1&sig=SECRET"},{"type":"input_file","file_url":"https:\/\/b.example\/a?sas=SECRET&n=1"}]}]}`, `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://b.example/a?sv=1&sig=***"},{"type":"input_file","file_url":"https://b.example/a?sas=***&n=1"}]}]}`},
	"signed source on Messages":   {`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://b.example/a?token=SECRET"}}]}]}`, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://b.example/a?token=***"}}]}]}`},
	"signed file of Gemini":       {`{"contents":[{"parts":[{"fileData":{"fileUri":"https://b.example/a?X-Goog-Signature=SECRET"}}]}]}`, `{"contents":[{"parts":[{"fileData":{"fileUri":"https://b.example/a?X-Goog-Signature=***"}}]}]}`},
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
		"key of no source":  `{"metadata":{"key":"k","value":"v","url":"https://a.example/?page=1"}}`,
		"names in schemas":  `{"token":{"id":1},"tools":[{"type":"function","function":{"parameters":{"properties":{"token":{"type":"string","default":"t"},"password":{"const":"p"},"headers":{"type":"object","properties":{"a":{"default":"b"}}},"url":{"default":"https://u:p@a.example"}}}}},{"name":"f","input_schema":{"properties":{"auth":{"default":{"headers":{"a":"b"}}}}}}]}`,
		"names in calls":    `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"token\":\"t\",\"headers\":{\"a\":\"b\"},\"url\":\"https://a.example/?token=t\"}"}}]},{"role":"assistant","content":[{"type":"tool_use","input":{"headers":{"a":"b"},"token":"t","url":"https://a.example/?sig=t"}}]}]}`,
		"names in items":    `{"input":[{"type":"function_call","arguments":"{\"password\":\"p\"}"},{"type":"custom_tool_call","input":"{\"url\":\"https://a.example/?sig=t\"}"}],"contents":[{"parts":[{"functionCall":{"args":{"headers":{"a":"b"},"url":"https://a.example/?sig=t"}}}]}]}`,
		"names in content":  `{"messages":[{"role":"user","content":"{\"token\":\"t\",\"headers\":{\"a\":\"b\"}}"}],"choices":[{"logprobs":{"content":[{"token":"Hi","logprob":-1}]}}]}`,
		"tokens in events":  "data: {\"token\":\"Hi\"}\n\n",
		"other addresses":   `{"messages":[{"content":[{"image_url":{"url":"data:image/png;base64,AAAA?token=t"}},{"image_url":"https://a.example/b.png?width=3"}]}]}`,
		"table":             `{"headers":["Name","Age"]}`,
		"thinking":          `{"content":[{"type":"thinking","signature":"c2ln"}],"usage":{"total_tokens":3}}`,
		"empty credentials": `{"tools":[{"authorization":"","headers":{}}],"api_key":null}`,
		"code in prose":     `{"messages":[{"role":"user","content":"Why does curl -d '{\"api_key\":\"k\"}' fail?"}]}`,
		"no JSON":           "\x00\x01\"authorization\":\xff{{{[[",
	} {
		input := []byte(body)
		if got := sealed.Body("", input); string(got) != body {
			t.Errorf("%s: %s", name, got)
		}
		if name != "no JSON" && sealed.Masked(input) != "" {
			t.Errorf("%s counts as masked at %s", name, sealed.Masked(input))
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
		{"password", "SECRET", "***"},
		{"image_url", "https://h.example/?sig=SECRET", "https://h.example/?sig=***"},
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

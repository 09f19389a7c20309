package bedrock_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// formOf is a form with a file and a purpose.
func formOf(t testing.TB, purpose, file string) *dialect.Request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, err := range []error{w.WriteField("purpose", purpose), w.WriteField("expires_after", "x")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.CreateFormFile("file", "rows.jsonl")
	if err == nil {
		_, err = p.Write([]byte(file))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dialecttest.Upload(t, &dialect.Request{Payload: wire.Bytes(b.Bytes()), ContentType: w.FormDataContentType(), Lines: lines()})
}

func s3(model string, more map[string]string) *dialect.Target {
	all := map[string]string{"aws_s3_bucket": "b", "aws_s3_object_key": "dir/my rows.jsonl", "aws_bedrock_model": model, "file_purpose": "batch"}
	maps.Copy(all, more)
	return &dialect.Target{Value: values(all)}
}

const chatLine = `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"},{"role":"user","content":"Bye"}],"max_tokens":9,"seed":1}}`

func TestUploadBatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, want string }{
		{"anthropic.claude-3-haiku-20240307-v1:0", `"anthropic_version":"bedrock-2023-05-31"`},
		{"amazon.nova-lite-v1:0", `{"system":[{"text":"S"}],"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"text":"Yo"}]},{"role":"user","content":[{"text":"Bye"}]}],"inferenceConfig":{"maxTokens":9}}`},
		{"meta.llama2-13b-chat-v1", `{"prompt":"<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nHi [/INST] Yo </s><s>[INST] Bye [/INST]","max_gen_len":9}`},
		{"us.meta.llama3-8b-instruct-v1:0", `{"prompt":"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nYo<|eot_id|>` +
			`<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n","max_gen_len":9}`},
		{"mistral.mistral-7b-instruct-v0:2", `{"prompt":"<s>[INST] S\n\nHi [/INST] Yo </s>[INST] Bye [/INST]","max_tokens":9}`},
		{"amazon.titan-text-express-v1", `{"inputText":"system: S\nuser: Hi\nassistant: Yo\nuser: Bye\nAssistant:","textGenerationConfig":{"maxTokenCount":9}}`},
		{"cohere.command-text-v14", `{"prompt":"system: S\nuser: Hi\nassistant: Yo\nuser: Bye\nAssistant:","max_tokens":9}`},
	} {
		out, err := ask(t, llm.UploadFile, formOf(t, "batch", chatLine+"\n\n"+`{"recordId":"2","modelInput":{"a":1}}`), s3(c.model, nil))
		if err != nil {
			t.Errorf("%s: %v", c.model, err)
			continue
		}
		rows := strings.Split(string(out.Body), "\n")
		if len(rows) != 3 || !strings.HasPrefix(rows[0], `{"recordId":"1","modelInput":{`) || rows[1] != `{"recordId":"2","modelInput":{"a":1}}` || !json.Valid([]byte(rows[0])) {
			t.Errorf("%s: %q", c.model, rows)
		}
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(rows[0])
		if !strings.Contains(plain, c.want) || strings.Contains(plain, `"model":`) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.model, plain, c.want)
		}
		if out.Path != "/b/dir/my%20rows.jsonl" || !slices.Contains(out.Dropped, "expires_after") || !slices.Contains(out.Dropped, "body.seed") {
			t.Errorf("%s: %s, lost %q", c.model, out.Path, out.Dropped)
		}
	}
}

func TestUploadSealed(t *testing.T) {
	t.Parallel()
	out, err := ask(t, llm.UploadFile, formOf(t, "batch", chatLine), s3("mistral.x", map[string]string{
		"aws_server_side_encryption": "aws:kms", "aws_server_side_encryption_kms_key_id": "k", "aws_s3_object_key": "",
	}))
	if err != nil || out.Header.Get("x-amz-server-side-encryption") != "aws:kms" || out.Header.Get("x-amz-server-side-encryption-aws-kms-key-id") != "k" ||
		out.Header.Get("content-type") != "application/jsonl" || len(out.Path) != len("/b/.jsonl")+32 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestUploadTuning(t *testing.T) {
	t.Parallel()
	const turns = `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo","weight":1}]}`
	out, err := ask(t, llm.UploadFile, formOf(t, "fine-tune", turns), s3("anthropic.x", nil))
	if err != nil || string(out.Body) != `{"system":"S","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"}]}`+"\n" {
		t.Errorf("%s, %v", out.Body, err)
	}
	pair := `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"}]}` + "\n" + `{"prompt":"a","completion":"b"}`
	out, err = ask(t, llm.UploadFile, formOf(t, "", pair), s3("amazon.x", map[string]string{"file_purpose": "fine-tune", "model_type": "text"}))
	if err != nil || string(out.Body) != `{"prompt":"Hi","completion":"Yo"}`+"\n"+`{"prompt":"a","completion":"b"}`+"\n" {
		t.Errorf("%s, %v", out.Body, err)
	}
}

func TestUploadRefuses(t *testing.T) {
	t.Parallel()
	form := func(purpose, file string) *dialect.Request { return formOf(t, purpose, file) }
	noLines := form("batch", chatLine)
	noLines.Lines = nil
	for _, c := range []struct {
		name string
		r    *dialect.Request
		to   *dialect.Target
		code fault.Code
		text string
	}{
		{"no form", &dialect.Request{ContentType: "application/json"}, s3("mistral.x", nil), fault.InvalidRequest, ""},
		{"a broken form", &dialect.Request{ContentType: "multipart/form-data; boundary=x", Payload: wire.Bytes([]byte("--x\r\nno header\r\n\r\nabc"))}, s3("mistral.x", nil), fault.InvalidRequest, ""},
		{"no file", dialecttest.Upload(t, &dialect.Request{ContentType: "multipart/form-data; boundary=x", Payload: wire.Bytes([]byte("--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x--\r\n"))}), s3("mistral.x", nil), fault.InvalidParameter, "file is required"},
		{"no bucket", form("batch", chatLine), s3("mistral.x", map[string]string{"aws_s3_bucket": ""}), fault.InvalidParameter, "bucket"},
		{"no model", form("batch", chatLine), s3("", nil), fault.InvalidParameter, "model"},
		{"no shapes", noLines, s3("mistral.x", nil), fault.NotSupported, ""},
		{"no JSON", form("batch", chatLine+"\n{\"a\":"), s3("mistral.x", nil), fault.InvalidParameter, "line 2 of the file is not a JSON object"},
		{"no body", form("batch", `{"custom_id":"1"}`), s3("mistral.x", nil), fault.InvalidParameter, "line 1 of the file has no body"},
		{"another endpoint", form("batch", `{"url":"/v1/embeddings","body":{}}`), s3("mistral.x", nil), fault.InvalidParameter, "line 1"},
		{"a bad call", form("batch", `{"body":{"messages":[]}}`), s3("mistral.x", nil), fault.InvalidParameter, "line 1 of the file cannot be sent: "},
		{"a family without batches", form("batch", chatLine), s3("deepseek.r1-v1:0", nil), fault.InvalidParameter, "not supported"},
		{"the assistant first", form("fine-tune", `{"messages":[{"role":"assistant","content":"a"}]}`), s3("x", nil), fault.InvalidParameter, "line 1 of the file must begin with a user message"},
		{"a tool", form("fine-tune", `{"messages":[{"role":"tool","content":"a"}]}`), s3("x", nil), fault.InvalidParameter, "role"},
		{"parts", form("fine-tune", `{"messages":[{"role":"user","content":[]}]}`), s3("x", nil), fault.InvalidParameter, "content is not a string"},
		{"no messages", form("fine-tune", `{"prompt":"a","completion":"b"}`), s3("x", nil), fault.InvalidParameter, "no messages"},
		{"three texts", form("fine-tune", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"}]}`), s3("x", map[string]string{"model_type": "text"}), fault.InvalidParameter, "one user message"},
	} {
		_, err := ask(t, llm.UploadFile, c.r, c.to)
		if !fault.Has(err, c.code) || !strings.Contains(fault.From(err).Text(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUploadAnswer(t *testing.T) {
	t.Parallel()
	a, err := translateResponse(llm.UploadFile, &dialect.Incoming{Sent: formOf(t, "batch", "12345"), To: s3("mistral.x", nil)})
	want := `{"id":"s3%3A%2F%2Fb%2Fdir%2Fmy%20rows.jsonl","object":"file","bytes":5,"created_at":1795176000,"filename":"s3://b/dir/my rows.jsonl","purpose":"batch","status":"processed"}`
	if err != nil || string(a.Body) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, a.Body, want)
	}
}

func TestRetrieveFiles(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"s3://b/a dir/k.jsonl", "s3%3A%2F%2Fb%2Fa%20dir%2Fk.jsonl"} {
		out, err := ask(t, llm.RetrieveFile, &dialect.Request{ID: id}, &dialect.Target{})
		if err != nil || out.Path != "/b/a%20dir/k.jsonl" || out.Query != "attributes=" || out.Header.Get("x-amz-object-attributes") != "ObjectSize" {
			t.Errorf("%+v, %v", out, err)
		}
		out, err = ask(t, llm.RetrieveFileContent, &dialect.Request{ID: id}, &dialect.Target{})
		if err != nil || out.Path != "/b/a%20dir/k.jsonl" || out.Query != "" {
			t.Errorf("%+v, %v", out, err)
		}
	}
	for _, id := range []string{"file-1", "s3://b", "s3://b/", "gs://b/k", "s3%3"} {
		if _, err := ask(t, llm.RetrieveFile, &dialect.Request{ID: id}, &dialect.Target{}); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", id, err)
		}
	}
	sent := &dialect.Request{ID: "s3://b/k.jsonl"}
	a, err := translateResponse(llm.RetrieveFile, &dialect.Incoming{
		Sent: sent, Header: wire.Header{{Name: "last-modified", Value: "Fri, 20 Nov 2026 10:00:00 GMT"}},
		Body: []byte(`<?xml version="1.0" encoding="UTF-8"?><GetObjectAttributesResponse><ObjectSize>1234</ObjectSize></GetObjectAttributesResponse>`),
	})
	if err != nil || string(a.Body) != `{"id":"s3%3A%2F%2Fb%2Fk.jsonl","object":"file","bytes":1234,"created_at":1795168800,"filename":"s3://b/k.jsonl","purpose":"batch","status":"processed"}` {
		t.Errorf("%s, %v", a.Body, err)
	}
	if _, err = translateResponse(llm.RetrieveFile, &dialect.Incoming{Sent: sent, Body: []byte(`<ObjectSize>x</ObjectSize>`)}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Error(err)
	}
	filer := bedrock.Dialect().Unified[llm.RetrieveFileContent].(dialect.FileStreamer)
	if kind, ok := filer.FileType(llm.RetrieveFileContent); !ok || kind != "application/octet-stream" {
		t.Errorf("content is no file: %s, %v", kind, ok)
	}
	if _, ok := filer.FileType(llm.RetrieveFile); ok {
		t.Error("what is known about a file is taken for the file")
	}
}

package anthropic_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

func ask(t testing.TB, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t.Helper()
	out, err := anthropic.Dialect().Unified[r.Endpoint].EncodeRequest(context.Background(), r, to)
	if err == nil && len(out.Body) > 0 && out.Header == nil && !jsonedit.Valid(out.Body) {
		t.Errorf("no JSON: %s", out.Body)
	}
	return out, err
}

func translateBody(t testing.TB, ep llm.Endpoint, body string) string {
	t.Helper()
	a, err := anthropic.Dialect().Unified[ep].TranslateResponse(&dialect.Incoming{
		Body: []byte(body), Created: 1700000000, Sent: &dialect.Request{Endpoint: ep, ID: "id_1"}, To: target("claude-2.1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Body)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want, dropped string }{
		{`{"model":"x","prompt":"Hi","max_tokens":5,"temperature":0.5,"stop":"a","user":"u","n":2}`,
			`{"model":"claude-2.1","prompt":"\n\nHuman: Hi\n\nAssistant:","max_tokens_to_sample":5,"temperature":0.5,"stop_sequences":["a"],"metadata":{"user_id":"u"}}`, "n"},
		{`{"prompt":["Hi"],"top_p":1,"top_k":2,"stop":null}`,
			`{"model":"claude-2.1","prompt":"\n\nHuman: Hi\n\nAssistant:","max_tokens_to_sample":4096,"top_p":1,"top_k":2}`, ""},
	} {
		out, err := ask(t, &dialect.Request{Endpoint: llm.Complete, Body: []byte(c.body)}, target("claude-2.1"))
		if err != nil || string(out.Body) != c.want || strings.Join(out.Dropped, ", ") != c.dropped {
			t.Errorf("%s: %v, %+v", c.body, err, out)
		}
	}
	if _, err := ask(t, &dialect.Request{Endpoint: llm.Complete, Body: []byte(`{"prompt":["a","b"]}`)}, target("m")); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("two prompts: %v", err)
	}
	got := translateBody(t, llm.Complete, `{"type":"completion","id":"compl_01","completion":" Hello!","stop_reason":"max_tokens","model":"claude-2.1","log_id":"log_1"}`)
	want := `{"id":"log_1","object":"text_completion","created":1700000000,"model":"claude-2.1","choices":[{"text":" Hello!","index":0,"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`
	if got != want {
		t.Errorf("got %s", got)
	}
}

// TestCompleteStream: however a stream is cut it is the same to the caller.
func TestCompleteStream(t *testing.T) {
	t.Parallel()
	stream := "event: completion\r\ndata: {\"type\":\"completion\",\"id\":\"compl_01\",\"completion\":\" Hel\",\"stop_reason\":null,\"model\":\"claude-2.1\"}\r\n\r\n" +
		"event: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\n" +
		"event: completion\r\ndata: {\"type\":\"completion\",\"id\":\"compl_01\",\"completion\":\"lo\",\"stop_reason\":null,\"model\":\"claude-2.1\"}\r\n\r\n" +
		"event: completion\r\ndata: {\"type\":\"completion\",\"id\":\"compl_01\",\"completion\":\"\",\"stop_reason\":\"stop_sequence\",\"model\":\"claude-2.1\"}\r\n\r\n"
	want := ""
	for i := range len(stream) {
		s := anthropic.Dialect().Unified[llm.Complete].(dialect.Streamer).NewStream(&dialect.Incoming{Created: 1700000000, To: target("m")})
		out, err := s.Append(nil, []byte(stream[:i]))
		if err == nil {
			out, err = s.Append(out, []byte(stream[i:]))
		}
		if err == nil {
			out, err = s.Close(out)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(out)
		}
		if string(out) != want {
			t.Fatalf("cut at %d:\n%s\nwant\n%s", i, out, want)
		}
	}
	if !strings.Contains(want, `"text":" Hel"`) || !strings.Contains(want, `"finish_reason":"stop"`) || !strings.HasSuffix(want, "data: [DONE]\n\n") {
		t.Error(want)
	}
	s := anthropic.Dialect().Unified[llm.Complete].(dialect.Streamer).NewStream(&dialect.Incoming{To: target("m")})
	out, err := s.Append(nil, []byte("event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"))
	if err != nil || !strings.Contains(string(out), "Overloaded") || strings.Contains(string(out), "[DONE]") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	out, err := ask(t, &dialect.Request{Endpoint: llm.CreateBatch, Body: []byte(`{"requests":[{"custom_id":"1","params":{"a": 1}}],"completion_window":"24h","metadata":{"a":"b"}}`)}, target("m"))
	if err != nil || string(out.Body) != `{"requests":[{"custom_id":"1","params":{"a": 1}}]}` || strings.Join(out.Dropped, ",") != "metadata" {
		t.Errorf("%v: %+v", err, out)
	}
	_, err = ask(t, &dialect.Request{Endpoint: llm.CreateBatch, Body: []byte(`{"input_file_id":"f","endpoint":"/v1/chat/completions"}`)}, target("m"))
	if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != "requests" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct{ status, counts, want string }{
		{"in_progress", `{"processing":2}`, "in_progress"}, {"canceling", `{"processing":2}`, "cancelling"},
		{"ended", `{"succeeded":2,"errored":1}`, "completed"}, {"ended", `{"succeeded":2,"canceled":1}`, "cancelled"},
		{"ended", `{"expired":2}`, "expired"}, {"new", `{}`, "new"},
	} {
		got := translateBody(t, llm.RetrieveBatch, `{"id":"msgbatch_1","processing_status":"`+c.status+`","request_counts":`+c.counts+`}`)
		if !strings.Contains(got, `"status":"`+c.want+`"`) {
			t.Errorf("%+v: %s", c, got)
		}
	}
	got := translateBody(t, llm.ListBatches, `{"data":[{"id":"msgbatch_013Zva2CMHLNnXjNJJKqJ2EF","archived_at":null,"cancel_initiated_at":null,"created_at":"2024-08-20T18:37:24.100435Z","ended_at":"2024-08-20T19:37:24.100435Z","expires_at":"2024-08-21T18:37:24.100435Z","processing_status":"ended","request_counts":{"canceled":0,"errored":30,"expired":0,"processing":0,"succeeded":50},"results_url":"https://api.anthropic.com/x","type":"message_batch"}],"first_id":"a","last_id":null,"has_more":true}`)
	want := `{"object":"list","data":[{"id":"msgbatch_013Zva2CMHLNnXjNJJKqJ2EF","object":"batch","endpoint":"/v1/batches","errors":null,"input_file_id":null,"completion_window":"24h","status":"completed","output_file_id":null,"error_file_id":null,"created_at":1724179044,"expires_at":1724265444,"completed_at":1724182644,"expired_at":null,"cancelling_at":null,"cancelled_at":null,"request_counts":{"total":80,"completed":50,"failed":30},"metadata":null}],"first_id":"a","last_id":null,"has_more":true}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out, err = ask(t, &dialect.Request{Endpoint: llm.ListBatches, Query: "after=b%26&limit=3&order=asc"}, target("m"))
	if err != nil || out.Query != "after_id=b%26&limit=3" || strings.Join(out.Dropped, ",") != "order" {
		t.Errorf("%v: %+v", err, out)
	}
	if kind, ok := anthropic.Dialect().Unified[llm.GetBatchOutput].(dialect.FileStreamer).FileType(llm.GetBatchOutput); !ok || kind != "application/x-jsonl" {
		t.Errorf("results are no file: %s, %v", kind, ok)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "assistants")
	_ = w.WriteField("expires_after", "1")
	p, _ := w.CreateFormFile("file", "a.pdf")
	_, _ = p.Write([]byte("%PDF"))
	_ = w.Close()
	r := dialecttest.Upload(t, &dialect.Request{Endpoint: llm.UploadFile, Payload: wire.Bytes(form.Bytes()), ContentType: w.FormDataContentType()})
	out, err := ask(t, r, target("m"))
	if err != nil {
		t.Fatal(err)
	}
	dialecttest.LoadBody(t, out)
	if out.Header.Get("anthropic-beta") != "files-api-2025-04-14" || strings.Join(out.Dropped, ",") != "expires_after" {
		t.Errorf("%+v", out)
	}
	_, boundary, _ := strings.Cut(out.Header.Get("content-type"), "boundary=")
	sent := multipart.NewReader(bytes.NewReader(out.Body), boundary)
	part, err := sent.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(part); part.FormName() != "file" || part.FileName() != "a.pdf" || string(b) != "%PDF" {
		t.Errorf("%s %s %s", part.FormName(), part.FileName(), b)
	}
	if _, err := sent.NextPart(); err != io.EOF {
		t.Errorf("more than the file: %v", err)
	}

	const meta = `{"id":"file_011CNha8iCJcU1wXNR6q4V8w","created_at":"2025-04-15T18:37:24.100435Z","filename":"document.pdf","mime_type":"application/pdf","size_bytes":102400,"type":"file","downloadable":false}`
	want := `{"id":"file_011CNha8iCJcU1wXNR6q4V8w","object":"file","bytes":102400,"created_at":1744742244,"filename":"document.pdf","purpose":"user_data","status":"processed","mime_type":"application/pdf"}`
	if got := translateBody(t, llm.RetrieveFile, meta); got != want {
		t.Errorf("got %s", got)
	}
	a, err := anthropic.Dialect().Unified[llm.UploadFile].TranslateResponse(&dialect.Incoming{Body: []byte(meta), Sent: r, To: target("m")})
	if err != nil || !strings.Contains(string(a.Body), `"purpose":"assistants"`) {
		t.Errorf("%v: %+v", err, a)
	}
	if got := translateBody(t, llm.ListFiles, `{"data":[`+meta+`],"first_id":"a","has_more":false,"last_id":"b"}`); got != `{"object":"list","data":[`+want+`],"first_id":"a","last_id":"b","has_more":false}` {
		t.Errorf("got %s", got)
	}
	if got := translateBody(t, llm.DeleteFile, `{"id":"file_1","type":"file_deleted"}`); got != `{"id":"file_1","object":"file","deleted":true}` {
		t.Errorf("got %s", got)
	}
	for _, bad := range []*dialect.Request{
		{Endpoint: llm.UploadFile, ContentType: "application/json"},
		{Endpoint: llm.UploadFile, ContentType: "multipart/form-data; boundary=x", Payload: wire.Bytes([]byte("--x\r\n"))},
		{Endpoint: llm.UploadFile, ContentType: "multipart/form-data; boundary=x", Payload: wire.Bytes([]byte("--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\na\r\n--x--\r\n"))},
	} {
		if _, err := ask(t, dialecttest.Upload(t, bad), target("m")); fault.From(err).HTTPStatus() != 400 {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestNoAnswers: what is no answer of the endpoint is the provider's mistake.
func TestNoAnswers(t *testing.T) {
	t.Parallel()
	for ep, u := range anthropic.Dialect().Unified {
		if ep == llm.GetBatchOutput || ep == llm.RetrieveFileContent || ep == llm.DeleteFile {
			continue // anything will do
		}
		sent := dialecttest.Upload(t, &dialect.Request{
			Endpoint: ep, ContentType: "multipart/form-data; boundary=x",
			Payload: wire.Bytes([]byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\na\r\n--x--\r\n")),
		})
		for _, body := range []string{"", "<html>", `{"id":"x"`} {
			if _, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(body), Sent: sent, To: target("m")}); !fault.Has(err, fault.UpstreamInvalid) {
				t.Errorf("%s %q: %v", ep, body, err)
			}
		}
	}
}

package media_test

import (
	"testing"

	"sluice/internal/dialect/media"
)

func TestFilesAreDocumentsByURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ part, want string }{
		{`{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a.pdf"}}`, `{"type":"document_url","document_url":"data:application/pdf;base64,JVBE","document_name":"a.pdf"}`},
		{`{"type":"file","file":{"file_data":"JVBE"}}`, `{"type":"document_url","document_url":"data:application/pdf;base64,JVBE"}`},
		{`{"type":"file","file":{"file_data":"JVBE","filename":"a.docx"}}`, `{"type":"document_url","document_url":"data:` + media.MIMEOf("a.docx") + `;base64,JVBE","document_name":"a.docx"}`},
		{`{"type":"file","file":{"file_url":"https://example.com/a.pdf"}}`, `{"type":"document_url","document_url":"https://example.com/a.pdf"}`},
		{`{"type":"file","file":{"file_id":"f1"}}`, `{"type":"file","file_id":"f1"}`},
		{`{"type":"file","file":{}}`, ""},
		{`{"type":"file","file":"f1"}`, ""},
		{`{"type":"file","file_id":"f1"}`, ""},
		{`{"type":"document_url","document_url":"https://example.com/a.pdf"}`, ""},
		{`"file"`, ""},
	} {
		text := `{"type":"text","text":"the \"file\""}`
		before, after := `[{"role":"system","content":"file"},{"content":[`+text+`,`, `,`+text+`],"role":"user"}]`
		want := ""
		if c.want != "" {
			want = before + c.want + after
		}
		if got := string(media.DocumentURLs([]byte(before + c.part + after))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.part, got, want)
		}
	}
	for _, odd := range []string{``, `"file"`, `[]`, `["file"]`, `[{"content":"file"}]`, `[{"content":{"type":"file"}}]`} {
		if got := media.DocumentURLs([]byte(odd)); got != nil {
			t.Errorf("%s became %s", odd, got)
		}
	}
}

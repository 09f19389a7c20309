package media_test

import (
	"context"
	"errors"
	"testing"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
)

// remoteFiles is what there is to fetch: type and bytes by URL.
var remoteFiles = map[string][2]string{
	"https://a/cat.png": {"image/png; charset=binary", "cat"},
	"https://a/dog.jpg": {"application/octet-stream", "dog"},
	"https://a/page":    {"text/html", "no picture"},
	"https://a/paper":   {"application/pdf", "paper"},
	"https://a/notes":   {"text/plain; charset=utf-8", "notes \"here\""},
}

func fetchRemoteFile(_ context.Context, url string) (string, []byte, error) {
	f, ok := remoteFiles[url]
	if !ok {
		return "", nil, errors.New("no such file")
	}
	return f[0], []byte(f[1]), nil
}

func TestInline(t *testing.T) {
	t.Parallel()
	message := func(content string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"user","content":[` + content + `]}],"max_tokens":1.0}`
	}
	named := func(typ, url string) string {
		return `{"type":"` + typ + `","source":{"type":"url","url":"` + url + `"},"cache_control":{"type":"ephemeral"}}`
	}
	inline := func(typ, source string) string {
		return `{"type":"` + typ + `","source":` + source + `,"cache_control":{"type":"ephemeral"}}`
	}
	for _, c := range []struct{ name, content, want string }{
		{"an image", named("image", "https://a/cat.png"), inline("image", `{"type":"base64","media_type":"image/png","data":"Y2F0"}`)},
		{"an image whose name tells its type", named("image", "https://a/dog.jpg"), inline("image", `{"type":"base64","media_type":"image/jpeg","data":"ZG9n"}`)},
		{"a document", named("document", "https://a/paper"), inline("document", `{"type":"base64","media_type":"application/pdf","data":"cGFwZXI="}`)},
		{"a text", named("document", "https://a/notes"), inline("document", `{"type":"text","media_type":"text/plain","data":"notes \"here\""}`)},
		{
			"in the result of a tool, and in a document of blocks",
			`{"type":"tool_result","tool_use_id":"t","content":[` + named("image", "https://a/cat.png") + `]},{"type":"document","source":{"type":"content","content":[` + named("image", "https://a/cat.png") + `]}}`,
			`{"type":"tool_result","tool_use_id":"t","content":[` + inline("image", `{"type":"base64","media_type":"image/png","data":"Y2F0"}`) + `]},{"type":"document","source":{"type":"content","content":[` + inline("image", `{"type":"base64","media_type":"image/png","data":"Y2F0"}`) + `]}}`,
		},
	} {
		got, err := media.Inline(t.Context(), []byte(message(c.content)), fetchRemoteFile)
		if err != nil || string(got) != message(c.want) {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
	for _, same := range []string{
		message(`{"type":"text","text":"\"url\""}`),
		message(`{"type":"tool_use","id":"t","name":"f","input":{"source":{"type":"url","url":"https://a/cat.png"},"content":[{"source":{"type":"url","url":"https://a/cat.png"}}]}}`),
		message(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"Y2F0","x":"url"}}, 7, [], null`),
		`{"messages":"url","source":{"type":"url","url":"https://a/cat.png"}}`,
	} {
		if got, err := media.Inline(t.Context(), []byte(same), fetchRemoteFile); err != nil || string(got) != same {
			t.Errorf("%s became %s, %v", same, got, err)
		}
	}
	for _, bad := range []string{"https://a/page", "https://a/none"} {
		_, err := media.Inline(t.Context(), []byte(message(named("image", bad))), fetchRemoteFile)
		if f := fault.From(err); err == nil || f.Param != "messages[1].content[0]" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

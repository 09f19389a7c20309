package stability

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "stable-diffusion-xl-1024-v1-0"}
	dialecttest.Requests(t, artifacts{}, to, []dialecttest.RequestCase{
		{Name: "plain", Request: dialecttest.JSON(`{"prompt":"a fox"}`), Want: `{"text_prompts":[{"text":"a fox","weight":1}]}`},
		{
			Name: "all", Request: dialecttest.JSON(`{"prompt":"a fox","negative_prompt":"snow","n":2,"size":"1024x1024","style":"anime","cfg_scale":7,"steps":30,"user":"u","response_format":"url"}`),
			Want:    `{"text_prompts":[{"text":"a fox","weight":1},{"text":"snow","weight":-1}],"width":1024,"height":1024,"samples":2,"style_preset":"anime","cfg_scale":7,"steps":30}`,
			Dropped: []string{"user", "response_format"},
		},
		{Name: "no prompt", Request: dialecttest.JSON(`{}`), Param: "prompt"},
		{Name: "no size", Request: dialecttest.JSON(`{"prompt":"a","size":"x"}`), Param: "size"},
	})
	dialecttest.Responses(t, artifacts{}, to, []dialecttest.ResponseCase{
		{Name: "one", Body: `{"artifacts":[{"base64":"QQ==","seed":1050625087,"finishReason":"SUCCESS"}]}`, Want: `{"created":1795176000,"data":[{"b64_json":"QQ==","seed":1050625087,"finish_reason":"SUCCESS"}]}`},
		{Name: "none", Body: `{"artifacts":[]}`},
		{Name: "no JSON", Body: `<html>`},
	})
}

// field is one of a form that was read back.
func fieldsOf(t *testing.T, out *dialect.Outgoing) []string {
	t.Helper()
	_, params, err := mime.ParseMediaType(out.Header.Get("content-type"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	r := multipart.NewReader(bytes.NewReader(out.Body), params["boundary"])
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		line := p.FormName() + "=" + string(data)
		if p.FileName() != "" {
			line += fmt.Sprintf(" (%s, %s)", p.FileName(), p.Header.Get("content-type"))
		}
		list = append(list, line)
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	fetch := func(_ context.Context, url string) (string, []byte, error) {
		if !strings.HasSuffix(url, ".png") {
			return "", nil, fault.New(fault.InvalidParameter, "there is nothing")
		}
		return "image/png", []byte("B"), nil
	}
	cases := []struct {
		name, model, body string
		want              []string
		path              string
		more              int
		dropped           []string
		param             string
	}{
		{name: "plain", model: "core", body: `{"prompt":"a \"fox\""}`, want: []string{`prompt=a "fox"`}},
		{
			name: "all", model: "ultra", body: `{"model":"ultra","prompt":"a","aspect_ratio":"16:9","seed":7,"style":"anime","output_format":"png","size":"1024x1024","response_format":"b64_json"}`,
			want: []string{"prompt=a", "aspect_ratio=16:9", "seed=7", "style_preset=anime", "output_format=png"}, dropped: []string{"size"},
		},
		{name: "model in the form", model: "sd3.5-large", body: `{"prompt":"a"}`, want: []string{"prompt=a", "model=sd3.5-large"}, path: "/v2beta/stable-image/generate/sd3"},
		{name: "family", model: "sd3", body: `{"prompt":"a"}`, want: []string{"prompt=a"}},
		{name: "three", model: "core", body: `{"prompt":"a","n":3}`, want: []string{"prompt=a"}, more: 2},
		{name: "data URL", model: "sd3", body: `{"prompt":"a","mode":"image-to-image","strength":0.5,"image":"data:image/jpeg;base64,QQ=="}`, want: []string{"prompt=a", "mode=image-to-image", "strength=0.5", "image=A (image, image/jpeg)"}},
		{name: "bare base64", model: "sd3", body: `{"prompt":"a","image":"QQ"}`, want: []string{"prompt=a", "image=A (image, application/octet-stream)"}},
		{name: "URL", model: "sd3", body: `{"prompt":"a","image":"https://e.com/x.png"}`, want: []string{"prompt=a", "image=B (image, image/png)"}},
		{name: "URL of nothing", model: "sd3", body: `{"prompt":"a","image":"https://e.com/x"}`, param: "image"},
		{name: "no base64", model: "sd3", body: `{"prompt":"a","image":"??"}`, param: "image"},
		{name: "line break in the type", model: "sd3", body: `{"prompt":"a","image":"data:image/png\r\nx: y;base64,QQ=="}`, param: "image"},
		{name: "no text", model: "sd3", body: `{"prompt":"a","image":3}`, param: "image"},
		{name: "no prompt", model: "core", body: `{}`, param: "prompt"},
		{name: "too many", model: "core", body: `{"prompt":"a","n":11}`, param: "n"},
		{name: "no number", model: "core", body: `{"prompt":"a","n":"2"}`, param: "n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := dialecttest.JSON(c.body)
			out, err := form{}.EncodeRequest(t.Context(), &r, &dialect.Target{Model: c.model, Fetch: fetch})
			if c.param != "" {
				if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
					t.Errorf("got %v, want a refusal of %s", err, c.param)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fieldsOf(t, out); !slices.Equal(got, c.want) || out.Path != c.path || len(out.More) != c.more || !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("got %q, path %q, %d more, lost %q", got, out.Path, len(out.More), out.Dropped)
			}
			if out.Header.Get("accept") != "application/json" {
				t.Error("a picture would come instead of JSON")
			}
			again, err := form{}.EncodeRequest(t.Context(), &r, &dialect.Target{Model: c.model, Fetch: fetch})
			if err != nil || !bytes.Equal(again.Body, out.Body) {
				t.Errorf("the same request makes other bytes: %v", err)
			}
		})
	}
	dialecttest.Responses(t, form{}, &dialect.Target{Model: "core"}, []dialecttest.ResponseCase{
		{
			Name: "two", Body: `{"image":"QQ==","finish_reason":"SUCCESS","seed":1}`, More: []string{`{"image":"Qg==","finish_reason":"CONTENT_FILTERED","seed":2}`},
			Want: `{"created":1795176000,"data":[{"b64_json":"QQ==","finish_reason":"SUCCESS","seed":1},{"b64_json":"Qg==","finish_reason":"CONTENT_FILTERED","seed":2}]}`,
		},
		{Name: "none", Body: `{}`},
	})
}

package images_test

import (
	"slices"
	"testing"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestImagesAnswer(t *testing.T) {
	t.Parallel()
	m := images.Result{Created: 7, Items: []images.Item{
		{Base64: []byte(`"QQ=="`), Extra: []llm.Param{{Name: "seed", Raw: []byte("1")}}}, {URL: []byte(`"https://e.com/x.png"`)},
	}}
	a, err := m.BuildResponse()
	if want := `{"created":7,"data":[{"b64_json":"QQ==","seed":1},{"url":"https://e.com/x.png"}]}`; err != nil || string(a.Body) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, a.Body, want)
	}
	for name, items := range map[string][]images.Item{"none": nil, "empty": {{}}, "number": {{Base64: []byte("3")}}, "null": {{URL: []byte("null")}}} {
		if _, err := (&images.Result{Items: items}).BuildResponse(); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImageRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body          string
		width, height int64
		param         string
	}{
		{`{"prompt":"p","size":"1024x768"}`, 1024, 768, ""},
		{`{"prompt":"p"}`, 0, 0, ""},
		{`{"prompt":"p","size":"auto"}`, 0, 0, ""},
		{`{"prompt":"p","size":"large"}`, 0, 0, "size"},
		{`{"prompt":"p","size":1024}`, 0, 0, "size"},
		{`{"prompt":"p","size":"-1x5"}`, 0, 0, "size"},
		{`{"prompt":"p","size":"9999999999x5"}`, 0, 0, "size"},
		{`{}`, 0, 0, "prompt"},
		{`{"prompt":["p"]}`, 0, 0, "prompt"},
	} {
		tally := fields.Track([]byte(c.body))
		_, err := images.ReadPrompt(tally)
		var width, height int64
		if err == nil {
			width, height, err = images.ReadSize(tally)
		}
		if f := fault.From(err); err != nil && f.Param != c.param || err == nil && (c.param != "" || width != c.width || height != c.height) {
			t.Errorf("%s: %dx%d, %v", c.body, width, height, err)
		}
	}
}

func TestBase64Only(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{`{"response_format":"b64_json"}`: nil, `{"response_format":"url"}`: {"response_format"}, `{}`: nil} {
		tally := fields.Track([]byte(body))
		images.Base64Only(tally)
		if dropped := tally.Dropped(); !slices.Equal(dropped, want) {
			t.Errorf("%s: lost %q", body, dropped)
		}
	}
}

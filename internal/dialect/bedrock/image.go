package bedrock

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// image implements the image generation endpoint.
// Source: contract/provider-transforms.md 3.9, 7.9;
// https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html,
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html, read 2026-11.
type image struct{}

var _ dialect.OpenAIEndpoint = image{}

// EncodeRequest builds the native request body of the model's family.
func (image) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, ok := t.Consume("prompt")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "prompt is required; send it in the request body").WithParam("prompt")
	}
	if raw, ok := t.Peek("response_format"); ok && plain(raw) == "b64_json" {
		t.Consume("response_format") // models always return base64
	}
	p := imageWriter{t: t, prompt: prompt}
	out := &dialect.Outgoing{}
	switch id := foundation(to.Underlying()); {
	case familyOf(to.Underlying()) == amazon:
		out.Body = p.amazon(strings.Contains(id, "nova"))
	case strings.HasPrefix(id, "stability.stable-diffusion-xl-"):
		out.Body = p.diffusion()
	default:
		var err error
		if out.Body, out.More, err = p.stable(); err != nil {
			return nil, err
		}
	}
	out.Dropped = t.Dropped()
	return out, nil
}

type imageWriter struct {
	jsonwriter.Writer
	t      *llm.FieldTracker
	prompt []byte
}

// size parses "1024x768" and marks the field as consumed. For "auto" and for invalid sizes ok is
// false; an invalid size stays unconsumed.
func (w *imageWriter) size() (width, height int, ok bool) {
	raw, _ := w.t.Peek("size")
	left, right, _ := strings.Cut(plain(raw), "x")
	width, werr := strconv.Atoi(left)
	height, herr := strconv.Atoi(right)
	if werr != nil || herr != nil || width <= 0 || height <= 0 {
		if plain(raw) == "auto" {
			w.t.Consume("size")
		}
		return 0, 0, false
	}
	w.t.Consume("size")
	return width, height, true
}

// qualities maps OpenAI's and Amazon's quality names to Amazon's.
var qualities = map[string]string{"standard": "standard", "medium": "standard", "hd": "premium", "high": "premium", "premium": "premium"}

func (w *imageWriter) amazon(nova bool) []byte {
	w.Open('{')
	w.Str("taskType", "TEXT_IMAGE")
	w.Key("textToImageParams").Open('{')
	w.Raw("text", w.prompt)
	fields.WriteParams(&w.Writer, w.t, []fields.Rename{{Path: "negative_prompt", To: "negativeText"}})
	if nova {
		fields.WriteParams(&w.Writer, w.t, []fields.Rename{{Path: "style", To: "style"}})
	}
	w.Close('}')
	in := jsonwriter.Writer{}
	in.Open('{')
	if width, height, ok := w.size(); ok {
		in.Int("width", int64(width))
		in.Int("height", int64(height))
	}
	fields.WriteParams(&in, w.t, []fields.Rename{{Path: "n", To: "numberOfImages"}, {Path: "seed", To: "seed"}, {Path: "cfg_scale", To: "cfgScale"}})
	if raw, ok := w.t.Peek("quality"); ok {
		if name := qualities[plain(raw)]; name != "" || plain(raw) == "auto" {
			w.t.Consume("quality")
			in.Opt("quality", name)
		}
	}
	in.Close('}')
	if len(in.B) > 2 {
		w.Raw("imageGenerationConfig", in.B)
	}
	w.Close('}')
	return w.B
}

// diffusion writes the request body for Stable Diffusion XL.
func (w *imageWriter) diffusion() []byte {
	w.Open('{')
	w.Key("text_prompts").Open('[')
	w.Open('{')
	w.Raw("text", w.prompt)
	w.Int("weight", 1)
	w.Close('}')
	if raw, ok := w.t.Consume("negative_prompt"); ok {
		w.Open('{')
		w.Raw("text", raw)
		w.Int("weight", -1)
		w.Close('}')
	}
	w.Close(']')
	if width, height, ok := w.size(); ok {
		w.Int("height", int64(height))
		w.Int("width", int64(width))
	}
	w.style()
	fields.WriteParams(&w.Writer, w.t, []fields.Rename{
		{Path: "n", To: "samples"}, {Path: "cfg_scale", To: "cfg_scale"}, {Path: "clip_guidance_preset", To: "clip_guidance_preset"},
		{Path: "sampler", To: "sampler"}, {Path: "seed", To: "seed"}, {Path: "steps", To: "steps"}, {Path: "extras", To: "extras"},
	})
	w.Close('}')
	return w.B
}

func (w *imageWriter) style() {
	if raw, ok := w.t.First("style_preset", "style"); ok {
		w.Raw("style_preset", raw)
	}
}

// maxImages is the maximum number of images per request, the same as OpenAI's.
const maxImages = 10

// stable writes the request body for Stability's newer models. They return one image per call, so
// n images need n-1 more bodies.
func (w *imageWriter) stable() (body []byte, more [][]byte, err error) {
	w.Open('{')
	w.Raw("prompt", w.prompt)
	if _, requested := w.t.Peek("aspect_ratio"); !requested {
		w.ratio()
	}
	w.style()
	fields.WriteParams(&w.Writer, w.t, []fields.Rename{
		{Path: "negative_prompt", To: "negative_prompt"}, {Path: "aspect_ratio", To: "aspect_ratio"}, {Path: "seed", To: "seed"},
		{Path: "mode", To: "mode"}, {Path: "output_format", To: "output_format"}, {Path: "image", To: "image"}, {Path: "strength", To: "strength"},
	})
	w.Close('}')
	raw, several := w.t.Consume("n")
	if !several {
		return w.B, nil, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > maxImages {
		return nil, nil, fault.Newf(fault.InvalidParameter, "n must be an integer between 1 and %d", maxImages).WithParam("n")
	}
	for range n - 1 {
		more = append(more, w.B)
	}
	return w.B, more, nil
}

// ratios maps reduced width and height to the aspect ratios that Stability supports.
var ratios = map[[2]int]string{
	{1, 1}: "1:1", {16, 9}: "16:9", {21, 9}: "21:9", {7, 3}: "21:9", {2, 3}: "2:3", {3, 2}: "3:2", {4, 5}: "4:5", {5, 4}: "5:4", {9, 16}: "9:16",
	{9, 21}: "9:21", {3, 7}: "9:21",
}

// ratio writes the aspect ratio of the requested size. The model chooses the resolution.
func (w *imageWriter) ratio() {
	raw, _ := w.t.Peek("size")
	left, right, _ := strings.Cut(plain(raw), "x")
	width, werr := strconv.Atoi(left)
	height, herr := strconv.Atoi(right)
	if werr != nil || herr != nil || width <= 0 || height <= 0 {
		return
	}
	a, b := width, height
	for b != 0 {
		a, b = b, a%b
	}
	if name, ok := ratios[[2]int{width / a, height / a}]; ok {
		w.t.Consume("size")
		w.Str("aspect_ratio", name)
	}
}

// TranslateResponse collects the images of all provider responses: {"images":["…"]} or
// {"artifacts":[{"base64":"…"}]}.
func (image) TranslateResponse(in *dialect.Incoming) (*dialect.Response, error) {
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("created", in.Created)
	w.Key("data").Open('[')
	n := 0
	for _, body := range append([][]byte{in.Body}, in.More...) {
		for data := range images(body) {
			w.Open('{')
			w.Raw("b64_json", data)
			w.Close('}')
			n++
		}
	}
	w.Close(']')
	w.Close('}')
	if n == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no image"+whyNone(in.Body))
	}
	return &dialect.Response{Body: w.B, Model: in.To.Model}, nil
}

func images(body []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		list, _ := jsonedit.Find(body, "images")
		for val := range jsonedit.Elements(list) {
			if !yield(val) {
				return
			}
		}
		list, _ = jsonedit.Find(body, "artifacts")
		for val := range jsonedit.Elements(list) {
			if data, ok := jsonedit.Find(val, "base64"); ok && !yield(data) {
				return
			}
		}
	}
}

// whyNone returns the model's reason for returning no images, as ": reason", at most 512 bytes of
// it. It returns "" if there is none.
func whyNone(body []byte) string {
	const maxBytes = 512
	why := jsonedit.Text(body, "error")
	reasons, _ := jsonedit.Find(body, "finish_reasons")
	for val := range jsonedit.Elements(reasons) {
		why = cmp.Or(why, plain(val))
	}
	if why == "" {
		return ""
	}
	return ": " + strings.ToValidUTF8(why[:min(len(why), maxBytes)], "")
}

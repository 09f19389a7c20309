package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"strconv"
	"strings"
)

const (
	imagePath       = "/v1/demo/pictures/" // path of images returned by URL, for example ".../3fa2c1.png"
	imageSidePixels = 16                   // pixels
	maxPictures     = 10                   // maximum of "n", as in OpenAI's API
	maxPartial      = 3                    // "partial_images", likewise
)

type imageRequest struct {
	Model   string `json:"model"`
	Prompt  string `json:"prompt"`
	N       int    `json:"n"`
	Format  string `json:"response_format"`
	Stream  bool   `json:"stream"`
	Partial int    `json:"partial_images"`
	edit    bool
	files   int // images in an edit request
}

// imageAPI serves images and their URLs.
type imageAPI struct{ *serverState }

func (api *imageAPI) generateImage(w http.ResponseWriter, r *http.Request) error {
	var q imageRequest
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	return api.paint(w, r, q)
}

func (api *imageAPI) editImage(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r, 0)
	if err != nil {
		return err
	}
	if len(f.files) == 0 {
		return badParam("image", "image must be a file object, not a name or a string.")
	}
	q := imageRequest{Model: f.first("model"), Prompt: f.first("prompt"), Format: f.first("response_format"), Stream: f.first("stream") == "true", edit: true, files: len(f.files)}
	for name, to := range map[string]*int{"n": &q.N, "partial_images": &q.Partial} {
		if n := f.first(name); n != "" {
			if *to, err = strconv.Atoi(n); err != nil {
				return badParam(name, "Invalid '%s': expected a number.", name)
			}
		}
	}
	return api.paint(w, r, q)
}

// paint responds with n images of one colour each, derived from the prompt. Usage is the prompt's
// words, a token for each input image, and 100 for each output image.
func (api *imageAPI) paint(w http.ResponseWriter, r *http.Request, q imageRequest) error {
	n := max(q.N, 1)
	switch {
	case q.Prompt == "":
		return badParam("prompt", "you must provide a prompt parameter")
	case q.N < 0 || n > maxPictures:
		return badParam("n", "Invalid 'n': expected 1 to %d.", maxPictures)
	case q.Format != "" && q.Format != "url" && q.Format != "b64_json":
		return badParam("response_format", "Invalid 'response_format': expected url or b64_json.")
	case q.Stream && strings.HasPrefix(q.Model, "dall-e"):
		return badParam("stream", "%s does not support streaming.", q.Model)
	case q.Partial < 0 || q.Partial > maxPartial:
		return badParam("partial_images", "Invalid 'partial_images': expected 0 to %d.", maxPartial)
	}
	text, inputTokens, out := Tokens(q.Prompt), int64(q.files), int64(100*n)
	usage := map[string]any{
		"input_tokens": text + inputTokens, "output_tokens": out, "total_tokens": text + inputTokens + out,
		"input_tokens_details": map[string]any{"text_tokens": text, "image_tokens": inputTokens},
	}
	if q.Stream {
		api.streamImages(w, r, q, n, usage)
		return nil
	}
	var data []map[string]any
	for i := range n {
		tint := q.tint(i)
		if q.Format == "url" || q.Format == "" && strings.HasPrefix(q.Model, "dall-e") {
			data = append(data, map[string]any{"url": "http://" + r.Host + imagePath + tint + ".png"})
			continue
		}
		data = append(data, map[string]any{"b64_json": base64.StdEncoding.EncodeToString(renderPNG(tint))})
	}
	writeJSON(w, http.StatusOK, map[string]any{"created": api.now(), "data": data, "usage": usage})
	return nil
}

// streamImages sends each image in steps: the requested number of partial images, and then the
// complete image, with the usage of all.
// Source: openai-node 6.49.0, ImageGenStreamEvent and ImageEditStreamEvent.
func (api *imageAPI) streamImages(w http.ResponseWriter, r *http.Request, q imageRequest, n int, usage map[string]any) {
	kind := "image_generation"
	if q.edit {
		kind = "image_edit"
	}
	s := api.stream(w, r)
	for i := range n {
		image := map[string]any{
			"b64_json": base64.StdEncoding.EncodeToString(renderPNG(q.tint(i))), "created_at": api.now(),
			"background": "opaque", "output_format": "png", "quality": "auto", "size": "auto",
		}
		image["type"] = kind + ".partial_image"
		for k := range q.Partial {
			image["partial_image_index"] = k
			s.send(kind+".partial_image", image)
		}
		delete(image, "partial_image_index")
		image["type"], image["usage"] = kind+".completed", usage
		s.send(kind+".completed", image)
	}
}

// tint returns the colour of the image with an index, as six hex digits.
func (q imageRequest) tint(i int) string { return seedOf(fmt.Append(nil, q.Prompt, i))[:6] }

// serveImage serves the image at a response's URL.
func (api *imageAPI) serveImage(w http.ResponseWriter, r *http.Request) error {
	tint, ok := strings.CutSuffix(r.PathValue("name"), ".png")
	if _, err := hex.DecodeString(tint); err != nil || !ok || len(tint) != 6 {
		return missing("picture", r.PathValue("name"))
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(renderPNG(tint)) // the client may have disconnected
	return nil
}

// renderPNG returns a PNG of one colour, given as six hex digits.
func renderPNG(tint string) []byte {
	rgb, _ := hex.DecodeString(tint) // both callers pass six digits
	img := image.NewRGBA(image.Rect(0, 0, imageSidePixels, imageSidePixels))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{rgb[0], rgb[1], rgb[2], 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer accepts everything
	return b.Bytes()
}

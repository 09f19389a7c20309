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
	picturePath = "/v1/demo/pictures/" // where pictures answered by URL are fetched, for example ".../3fa2c1.png"
	pictureSide = 16                   // pixels
	maxPictures = 10                   // "n", as OpenAI has it
)

type imageRequest struct {
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	N      int    `json:"n"`
	Format string `json:"response_format"`
	files  int    // pictures that an edit brought
}

func (u *Upstream) generateImage(w http.ResponseWriter, r *http.Request) error {
	var q imageRequest
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	return u.paint(w, r, q)
}

func (u *Upstream) editImage(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r, 0)
	if err != nil {
		return err
	}
	if len(f.files) == 0 {
		return badParam("image", "image must be a file object, not a name or a text.")
	}
	q := imageRequest{Model: f.first("model"), Prompt: f.first("prompt"), Format: f.first("response_format"), files: len(f.files)}
	if n := f.first("n"); n != "" {
		if q.N, err = strconv.Atoi(n); err != nil {
			return badParam("n", "Invalid 'n': expected a number.")
		}
	}
	return u.paint(w, r, q)
}

// paint answers n pictures of one colour each, made from the prompt. Usage is the
// prompt's words, a token for each picture that came, and 100 for each that goes.
func (u *Upstream) paint(w http.ResponseWriter, r *http.Request, q imageRequest) error {
	n := max(q.N, 1)
	switch {
	case q.Prompt == "":
		return badParam("prompt", "you must provide a prompt parameter")
	case q.N < 0 || n > maxPictures:
		return badParam("n", "Invalid 'n': expected 1 to %d.", maxPictures)
	case q.Format != "" && q.Format != "url" && q.Format != "b64_json":
		return badParam("response_format", "Invalid 'response_format': expected url or b64_json.")
	}
	var data []map[string]any
	for i := range n {
		tint := seedOf(fmt.Append(nil, q.Prompt, i))[:6]
		if q.Format == "url" || q.Format == "" && strings.HasPrefix(q.Model, "dall-e") {
			data = append(data, map[string]any{"url": "http://" + r.Host + picturePath + tint + ".png"})
			continue
		}
		data = append(data, map[string]any{"b64_json": base64.StdEncoding.EncodeToString(picture(tint))})
	}
	text, in, out := Tokens(q.Prompt), int64(q.files), int64(100*n)
	writeJSON(w, http.StatusOK, map[string]any{
		"created": u.now(), "data": data,
		"usage": map[string]any{
			"input_tokens": text + in, "output_tokens": out, "total_tokens": text + in + out,
			"input_tokens_details": map[string]any{"text_tokens": text, "image_tokens": in},
		},
	})
	return nil
}

// picture serves what an answer's URL names.
func (u *Upstream) picture(w http.ResponseWriter, r *http.Request) error {
	tint, ok := strings.CutSuffix(r.PathValue("name"), ".png")
	if _, err := hex.DecodeString(tint); err != nil || !ok || len(tint) != 6 {
		return missing("picture", r.PathValue("name"))
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(picture(tint)) // a caller that left needs no answer
	return nil
}

// picture is a PNG of one colour, given as six hex digits.
func picture(tint string) []byte {
	rgb, _ := hex.DecodeString(tint) // both callers give six digits
	img := image.NewRGBA(image.Rect(0, 0, pictureSide, pictureSide))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{rgb[0], rgb[1], rgb[2], 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer takes everything
	return b.Bytes()
}

package demo

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

const (
	defaultDimensions = 1536
	maxEmbedded       = 512 // words of a text that shape its vector
)

type embeddingRequest struct {
	Model      string `json:"model"`
	Input      texts  `json:"input"`
	Dimensions int    `json:"dimensions"`
	Encoding   string `json:"encoding_format"`
}

type embeddingResponse struct {
	Object string         `json:"object"`
	Data   []embedding    `json:"data"`
	Model  string         `json:"model"`
	Usage  embeddingUsage `json:"usage"`
}

type embedding struct {
	Object string `json:"object"`
	Index  int    `json:"index"`
	Vector any    `json:"embedding"` // []float32, or base64 of them
}

type embeddingUsage struct {
	Prompt int64 `json:"prompt_tokens"`
	Total  int64 `json:"total_tokens"`
}

func embed(w http.ResponseWriter, r *http.Request) error {
	var q embeddingRequest
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case len(q.Input) == 0 || len(q.Input) > maxInputs:
		return badParam("input", "Invalid 'input': expected 1 to %d strings.", maxInputs)
	case q.Dimensions < 0 || q.Dimensions > maxDimensions:
		return badParam("dimensions", "Invalid 'dimensions': expected 1 to %d.", maxDimensions)
	case q.Encoding != "" && q.Encoding != "float" && q.Encoding != "base64":
		return badParam("encoding_format", "Invalid 'encoding_format': expected float or base64.")
	}
	if q.Dimensions == 0 {
		q.Dimensions = defaultDimensions
	}
	response := embeddingResponse{Object: "list", Model: q.Model}
	for i, text := range q.Input {
		e := embedding{Object: "embedding", Index: i}
		if v := Vector(text, q.Dimensions); q.Encoding == "base64" {
			e.Vector = pack(v)
		} else {
			e.Vector = v
		}
		response.Data = append(response.Data, e)
		response.Usage.Prompt += Tokens(text)
	}
	response.Usage.Total = response.Usage.Prompt
	writeJSON(w, http.StatusOK, response)
	return nil
}

// Vector returns the embedding of a text: the sum of one pseudo-random direction per word, case
// folded, scaled to length 1. Texts with common words are close to each other, so that a semantic
// cache or a search works plausibly. An empty text has the first unit vector. Words after the
// 512th do not count.
func Vector(text string, dimensions int) []float32 {
	vector := make([]float64, dimensions)
	words := strings.Fields(strings.ToLower(text))
	for _, word := range words[:min(len(words), maxEmbedded)] {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		for i, state := 0, h.Sum64(); i < dimensions; i++ {
			state = state*6364136223846793005 + 1442695040888963407
			vector[i] += float64(int32(state>>32)) / math.MaxInt32
		}
	}
	var square float64
	for _, x := range vector {
		square += x * x
	}
	out := make([]float32, dimensions)
	if square == 0 {
		out[0] = 1
		return out
	}
	for i, x := range vector {
		out[i] = float32(x / math.Sqrt(square))
	}
	return out
}

// pack returns OpenAI's base64 form: little-endian 32-bit floats.
func pack(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

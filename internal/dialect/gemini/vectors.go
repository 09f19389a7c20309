package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// vectors are the vectors of a prediction for one input.
type vectors struct {
	text, image, video []byte // raw; video is a list
}

// TranslateResponse reads the predictions of all requests, in the order of the inputs.
func (predictEmbed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var list []vectors
	var usage llm.Usage
	for _, body := range append([][]byte{incoming.Body}, incoming.More...) {
		list = readVectors(list, &usage, body)
	}
	usage = embedUsage(usage)
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body)), Usage: usage}
	media := false
	for _, v := range list {
		e.Vectors = append(e.Vectors, v.text)
		media = media || v.image != nil || v.video != nil
	}
	switch {
	case len(list) == 0:
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no predictions")
	case media:
		return mediaResponse(list, incoming.To.Model, usage), nil
	}
	return e.BuildResponse()
}

func readVectors(list []vectors, used *llm.Usage, body []byte) []vectors {
	predictions, _ := jsonedit.Find(body, "predictions")
	for p := range jsonedit.Elements(predictions) {
		var v vectors
		v.text, _ = jsonedit.Find(p, "embeddings", "values")
		if v.text == nil {
			v.text, _ = jsonedit.Find(p, "textEmbedding")
		}
		v.image, _ = jsonedit.Find(p, "imageEmbedding")
		v.video, _ = jsonedit.Find(p, "videoEmbeddings")
		if n, ok := jsonedit.Find(p, "embeddings", "statistics", "token_count"); ok {
			tokens, _ := usage.Count(n)
			used.InputTokens += tokens
			used.Reported = true
		}
		list = append(list, v)
	}
	if values, ok := jsonedit.Find(body, "embedding", "values"); ok { // embedContent
		list = append(list, vectors{text: values})
	}
	if raw, ok := jsonedit.Find(body, "usageMetadata"); ok {
		*used = used.Add(readUsage(raw))
	}
	return list
}

// mediaResponse writes vectors of images and videos in addition to those of texts.
// Source: contract/provider-transforms.md 4.8.
func mediaResponse(list []vectors, model string, usage llm.Usage) *dialect.Response {
	var w jsonwriter.Writer
	w.OpenList()
	for i, v := range list {
		w.Open('{')
		w.Str("object", "embedding")
		w.Int("index", int64(i))
		w.Raw("embedding", v.text)
		w.Raw("image_embedding", v.image)
		if v.video != nil {
			videos(&w, v.video)
		}
		w.Close('}')
	}
	w.Close(']')
	w.Str("model", model)
	w.Key("usage").Open('{')
	w.Int("prompt_tokens", usage.InputTokens)
	w.Int("total_tokens", usage.TotalTokens)
	w.Close('}')
	w.Close('}')
	return &dialect.Response{Body: w.B, Usage: usage, Model: model}
}

// videos writes the vectors of a video's segments.
func videos(w *jsonwriter.Writer, list []byte) {
	w.Key("video_embeddings").Open('[')
	i := int64(0)
	for v := range jsonedit.Elements(list) {
		w.Open('{')
		w.Str("object", "embedding")
		w.Int("index", i)
		for _, f := range [...][2]string{{"embedding", "embedding"}, {"startOffsetSec", "start_offset"}, {"endOffsetSec", "end_offset"}} {
			val, _ := jsonedit.Find(v, f[0])
			w.Raw(f[1], val)
		}
		w.Close('}')
		i++
	}
	w.Close(']')
}

package demo

import "net/http"

// The models in the list. Any other name is accepted too.
const (
	AnyModel        = "demo" // for any request; the model of the first call
	ChatModel       = "demo-chat"
	EmbeddingModel  = "demo-embedding"
	TranscribeModel = "demo-transcribe"
	SpeechModel     = "demo-speech"
	ImageModel      = "demo-image"
	ModerationModel = "demo-moderation"
	RerankModel     = "demo-rerank"
	RealtimeModel   = "demo-realtime"
)

var models = []string{AnyModel, ChatModel, EmbeddingModel, TranscribeModel, SpeechModel, ImageModel, ModerationModel, RerankModel, RealtimeModel}

// modelCreated is the fixed "created" of the models, 2026-01-01 in Unix seconds.
const modelCreated = 1767225600

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

func listModels(w http.ResponseWriter, _ *http.Request) error {
	data := make([]model, len(models))
	for i, id := range models {
		data[i] = model{id, "model", modelCreated, "sluice-demo"}
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
	return nil
}

func findModel(w http.ResponseWriter, r *http.Request) error {
	for _, id := range models {
		if id == r.PathValue("id") {
			writeJSON(w, http.StatusOK, model{id, "model", modelCreated, "sluice-demo"})
			return nil
		}
	}
	return &refusal{Status: http.StatusNotFound, Message: "The model '" + r.PathValue("id") + "' does not exist", Param: "model", Code: "model_not_found"}
}

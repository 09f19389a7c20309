package sniff

import (
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// CheckObject rejects a successful response of a unified endpoint that is not one JSON
// object, with fault.UpstreamInvalid, so that another target may be tried. Endpoints whose
// responses may be something else (audio, transcripts, file contents, pass-through) accept
// any body.
func CheckObject(ep llm.Endpoint, body []byte) error {
	switch ep {
	case llm.CreateSpeech, llm.CreateTranscription, llm.CreateTranslation, llm.RetrieveFileContent,
		llm.GetBatchOutput, llm.Realtime, llm.Proxy:
		return nil
	default:
		if jsonedit.Valid(body) {
			return nil
		}
		return fault.Newf(fault.UpstreamInvalid, "the provider response is not a JSON object: %s", what(body))
	}
}

// what describes a body that is not JSON, without quoting it.
func what(body []byte) string {
	switch text := strings.TrimSpace(string(body[:min(len(body), 64)])); {
	case text == "":
		return "it is empty"
	case strings.HasPrefix(text, "<"):
		return "it looks like a web page"
	case strings.HasPrefix(text, "{"):
		return "it is malformed or truncated"
	}
	return "it has another format"
}

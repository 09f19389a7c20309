package providerjob

import (
	"net/url"
	"path"
	"strings"

	"sluice/internal/kernel/llm"
)

// KindOf returns the kind of job that a call starts; empty if it starts none. Typed routes are
// recognised by their endpoint, proxied calls by their path, in the spelling of any provider.
//
// Source: the API references of OpenAI, Azure, Anthropic, Google, Amazon Bedrock, Mistral,
// Together, Fireworks, Cohere, xAI, Runway and MiniMax, read 2026-11.
func KindOf(ep llm.Endpoint, method, escaped string) Kind {
	switch ep {
	case llm.CreateBatch:
		return Batch
	case llm.CreateFinetune:
		return Finetune
	case llm.Proxy:
	default:
		return ""
	}
	if method != "POST" && method != "PUT" {
		return ""
	}
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		plain = escaped
	}
	plain = strings.ToLower(path.Clean("/" + plain)) // case does not matter to some providers, such as Azure
	last := plain[strings.LastIndexByte(plain, '/')+1:]
	if _, verb, ok := strings.Cut(last, ":"); ok {
		return byVerb[verb]
	}
	if k := byCollection[last]; k != "" {
		return k
	}
	return byPath(plain)
}

// byVerb contains Google's verbs after the name of a model, in lower case.
var byVerb = map[string]Kind{"batchgeneratecontent": Batch, "asyncbatchembedcontent": Batch, "predictlongrunning": Video}

// byCollection contains collections in which a POST creates a job, in lower case.
var byCollection = map[string]Kind{
	"batches": Batch, "batchpredictionjobs": Batch, "batchinferencejobs": Batch, "model-invocation-job": Batch, "model-invocation-jobs": Batch, "embed-jobs": Batch,
	"fine-tunes": Finetune, "fine_tunes": Finetune, "supervisedfinetuningjobs": Finetune, "finetuningjobs": Finetune, "reinforcementfinetuningjobs": Finetune, "dpojobs": Finetune,
	"tuningjobs": Finetune, "tunedmodels": Finetune, "model-customization-jobs": Finetune, "finetuned-models": Finetune,
	"videos": Video, "image_to_video": Video, "text_to_video": Video, "video_to_video": Video, "video_generation": Video, "text-to-video": Video, "image-to-video": Video,
	"async-invoke": Unknown,
}

// byPath recognises paths of several segments.
func byPath(plain string) Kind {
	segments := strings.Split(strings.Trim(plain, "/"), "/")
	n := len(segments)
	if n < 2 {
		return ""
	}
	last, before := segments[n-1], segments[n-2]
	switch {
	case last == "jobs" && (before == "batch" || before == "batches"):
		return Batch
	case last == "jobs" && (before == "fine_tuning" || before == "fine-tuning" || before == "finetuning"):
		return Finetune
	case (last == "generations" || last == "edits" || last == "extensions") && (before == "video" || before == "videos"):
		return Video
	case n >= 3 && last == "jobs" && before == "generations" && segments[n-3] == "video":
		return Video
	case n >= 3 && segments[n-3] == "videos" && (last == "remix" || last == "edit" || last == "extend"):
		return Video
	case n >= 3 && segments[n-3] == "batches" && last == "requests": // xAI's batches grow after their creation
		return Unknown
	case n >= 3 && segments[n-3] == "evals" && last == "runs", last == "run" && before == "graders":
		return Eval
	}
	return ""
}

// ReadPath returns the path below /v1 by which a proxied job is read, given the path that
// created it and the id in the response. Google's ids are resource names, which follow the
// version in the path: "batches/abc" of
// "/v1beta/models/gemini-2.5-flash:batchGenerateContent".
func ReadPath(created, id string) string {
	base, _, _ := strings.Cut(created, "?")
	for _, root := range [...]string{"/models/", "/projects/", "/tunedModels", "/publishers/"} {
		if index := strings.Index(base, root); index >= 0 && strings.Contains(id, "/") {
			return base[:index] + "/" + id
		}
	}
	for _, action := range [...]string{"/generations", "/edits", "/extensions"} {
		base = strings.TrimSuffix(base, action)
	}
	if index := strings.Index(base, "/videos/"); index >= 0 {
		base = base[:index] + "/videos"
	}
	if strings.HasPrefix(id, "/") || strings.Contains(id, "..") {
		id = url.PathEscape(id)
	}
	return strings.TrimSuffix(base, "/") + "/" + id
}

// Extends reports whether a call, according to its path, extends a video.
func Extends(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	path = strings.ToLower(strings.TrimSuffix(path, "/"))
	return strings.HasSuffix(path, "/extend") || strings.HasSuffix(path, "/extensions")
}

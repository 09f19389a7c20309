package anthropic

import (
	"net/url"
	"slices"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func unified() map[llm.Endpoint]dialect.OpenAIEndpoint {
	return map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Complete:            complete{},
		llm.CreateBatch:         createBatch{},
		llm.ListBatches:         batches{},
		llm.RetrieveBatch:       batches{},
		llm.CancelBatch:         batches{},
		llm.GetBatchOutput:      output{dialect.PassthroughCodec{ContentType: "application/x-jsonl"}},
		llm.UploadFile:          upload{},
		llm.ListFiles:           files{},
		llm.RetrieveFile:        files{},
		llm.DeleteFile:          files{},
		llm.RetrieveFileContent: content{dialect.PassthroughCodec{ContentType: "application/octet-stream"}},
		llm.ListModels:          modelList{},
		llm.RetrieveModel:       oneModel,
	}
}

// page translates OpenAI's query for a page of a list. Anthropic has the same limit; after and
// before become after_id and before_id. All other fields are returned as dropped.
// Source: https://platform.claude.com/docs/en/api/messages/batches/list, read 2026-11.
func page(query string) (more string, dropped []string) {
	fields, err := url.ParseQuery(query)
	if err != nil {
		return "", nil // the provider reports the error
	}
	out := url.Values{}
	for name, values := range fields {
		switch name {
		case "after", "before":
			out.Set(name+"_id", values[0])
		case "limit", "after_id", "before_id":
			out.Set(name, values[0])
		default:
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return out.Encode(), dropped
}

// writeList writes {"object":"list","data":[…],"first_id":…,"last_id":…,"has_more":false}
// from one of Anthropic's lists, whose envelope is nearly the same.
func writeList(w *jsonwriter.Writer, body []byte, each func(raw []byte)) {
	w.OpenList()
	for raw := range jsonedit.Elements(found(body, "data")) {
		each(raw)
	}
	w.ClosePage(jsonedit.Text(body, "first_id"), jsonedit.Text(body, "last_id"), string(found(body, "has_more")) == "true")
	w.Close('}')
}

// epoch returns a time member, "2024-08-20T18:37:24.100435Z", in epoch seconds; 0 when it is
// missing or not a time.
func epoch(raw []byte, name string) int64 {
	t, err := time.Parse(time.RFC3339Nano, jsonedit.Text(raw, name))
	if err != nil {
		return 0
	}
	return t.Unix()
}

// writeEpoch writes a time, null for 0.
func writeEpoch(w *jsonwriter.Writer, name string, seconds int64) {
	if seconds == 0 {
		w.Raw(name, null)
		return
	}
	w.Int(name, seconds)
}

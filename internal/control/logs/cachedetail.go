package logs

import (
	"encoding/json"

	"sluice/internal/control/resource/jsonfield"
)

// logCache is how an attempt used the response cache.
// Source: contract/dataplane.md 9 (log entry); matched, cosine and guard are ours.
type logCache struct {
	Key        string  `json:"key" doc:"Cache key: 64 hexadecimal digits, as DELETE /cache takes it"`
	Mode       string  `json:"mode" enum:"simple,semantic"`
	MaxAge     int64   `json:"max_age" doc:"Seconds for which the config stores responses; 0 for the default"`
	Matched    string  `json:"matched,omitempty" doc:"Stored question that the semantic mode found; absent when bodies are not stored"`
	Cosine     float64 `json:"cosine,omitempty" doc:"Similarity of the two questions, at most 1"`
	Guard      string  `json:"guard,omitempty" doc:"Result of the guard on words"`
	Error      string  `json:"error,omitempty" doc:"Why the semantic mode did not apply"`
	Saved      float64 `json:"saved" doc:"US cents that the response from the cache would have cost"`
	LookupCost float64 `json:"lookup_cost" doc:"US cents that the embedding of the question cost"`
}

// cacheOf returns the recorded use of the cache; nil if there is none.
func cacheOf(text string) *logCache {
	var r struct {
		logCache
		SavedNano  int64 `json:"saved_nano"`
		LookupNano int64 `json:"lookup_nano"`
	}
	if json.Unmarshal([]byte(text), &r) != nil {
		return nil
	}
	r.Saved, r.LookupCost = cents(r.SavedNano), cents(r.LookupNano)
	return &r.logCache
}

// logPromptCache is how an attempt used the prompt cache of its provider. (ours)
type logPromptCache struct {
	Placed  []string `json:"placed" nullable:"false" doc:"Blocks of the prompt that the gateway marked"`
	Dropped int      `json:"dropped" doc:"Marks of the client that the target does not accept; dropped_params names them"`
	Pinned  bool     `json:"pinned" doc:"Whether the target was chosen because its cache contained the conversation"`
	Saved   *float64 `json:"saved" nullable:"true" doc:"US cents that cached tokens saved, negative when more was written than read; null without usage or prices"`
}

// promptCacheOf returns the recorded use of a prompt cache; nil for none.
func promptCacheOf(text string) *logPromptCache {
	var r struct {
		logPromptCache
		SavedNano *int64 `json:"saved_nano"`
	}
	if json.Unmarshal([]byte(text), &r) != nil {
		return nil
	}
	r.Placed = jsonfield.OrEmpty(r.Placed)
	if r.SavedNano != nil {
		r.Saved = new(cents(*r.SavedNano))
	}
	return &r.logPromptCache
}

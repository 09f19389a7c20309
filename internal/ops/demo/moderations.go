package demo

import (
	"net/http"
	"strings"
)

// harmful maps the words that flag a text to their categories.
var harmful = map[string]string{
	"kill": "violence", "attack": "violence", "blood": "violence/graphic",
	"hate": "hate", "insult": "harassment", "suicide": "self-harm",
	"steal": "illicit", "weapon": "illicit/violent", "naked": "sexual",
}

// categories are all categories of OpenAI's moderation.
var categories = []string{
	"harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm",
	"self-harm/intent", "self-harm/instructions", "sexual", "sexual/minors", "violence", "violence/graphic",
}

type moderation struct {
	Flagged    bool                `json:"flagged"`
	Categories map[string]bool     `json:"categories"`
	Scores     map[string]float64  `json:"category_scores"`
	Inputs     map[string][]string `json:"category_applied_input_types"`
}

func moderate(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Model string `json:"model"`
		Input texts  `json:"input"`
	}
	seed, err := decode(w, r, &q)
	if err != nil {
		return err
	}
	if len(q.Input) == 0 || len(q.Input) > maxInputs {
		return badParam("input", "Invalid 'input': expected 1 to %d strings.", maxInputs)
	}
	results := make([]moderation, len(q.Input))
	for i, text := range q.Input {
		results[i] = judge(text)
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": "modr-" + seed, "model": orElse(q.Model, "omni-moderation-latest"), "results": results})
	return nil
}

// judge scores a category 0.9 if one of its words occurs, otherwise 0.01.
func judge(text string) moderation {
	m := moderation{Categories: map[string]bool{}, Scores: map[string]float64{}, Inputs: map[string][]string{}}
	for _, c := range categories {
		m.Categories[c], m.Scores[c], m.Inputs[c] = false, 0.01, []string{"text"}
	}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if c, ok := harmful[strings.Trim(word, ".,;:!?\"'")]; ok {
			m.Flagged, m.Categories[c], m.Scores[c] = true, true, 0.9
		}
	}
	return m
}

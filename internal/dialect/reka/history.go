package reka

import (
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// The two speakers. Reka does not have a system role, so system messages become messages of
// the model.
const (
	human = "human"
	model = "model"
)

// filler is the text of an empty turn. Reka requires the speakers to alternate.
const filler = "Go on."

// turn is one message of the conversation.
type turn struct{ who, text string }

// history is the conversation in Reka's format. The human begins, and the speakers alternate.
// It may contain one image and no other media. The image belongs to the first turn.
func history(t *llm.FieldTracker, c *llm.Call) (turns []turn, media string, err error) {
	for i := range c.Messages {
		m := c.Messages[i]
		if media, err = takeImage(t, c, &m, media); err != nil {
			return nil, "", err
		}
		text, err := conversation.PlainText(t, c, &m)
		if err != nil {
			return nil, "", err
		}
		next := turn{model, text}
		if m.Role == llm.RoleUser {
			next.who = human
		}
		turns = append(pad(turns, next.who), next)
	}
	return turns, media, nil
}

// pad adds a turn of the other speaker if a speaker would have two turns in a row, or if the
// model would begin.
func pad(turns []turn, who string) []turn {
	n := len(turns)
	switch {
	case n == 0 && who == model:
		return append(turns, turn{human, filler})
	case n > 0 && turns[n-1].who == who && who == model:
		return append(turns, turn{human, filler})
	case n > 0 && turns[n-1].who == who:
		return append(turns, turn{model, filler})
	}
	return turns
}

// takeImage removes a user's image from the message. A second image is not supported.
func takeImage(t *llm.FieldTracker, c *llm.Call, m *llm.Message, attachment string) (string, error) {
	var rest []llm.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != llm.ImagePart || m.Role != llm.RoleUser {
			rest = append(rest, *p)
			continue
		}
		if attachment != "" || p.Media.FileID != "" {
			return "", conversation.RejectUnsupported(c, m, p)
		}
		conversation.DropCacheControl(t, c, m, p)
		if p.Media.Detail != "" && p.Media.Detail != "auto" {
			t.Drop(c.Path(m, p.Index) + ".image_url.detail")
		}
		attachment = media.URL(p.Media)
	}
	m.Parts = rest
	return attachment, nil
}

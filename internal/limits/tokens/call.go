package tokens

import "sluice/internal/kernel/llm"

// countCall counts a conversation.
func countCall(s counter, c *llm.Call) {
	for i := range c.Messages {
		m := &c.Messages[i]
		s.turn(string(m.Role), m.Name)
		countParts(s, m.Parts)
	}
	for i := range c.Tools {
		s.tool(&c.Tools[i])
	}
	if f := c.Format; f != nil {
		s.text(f.Name)
		s.text(f.Description)
		s.text(string(f.Schema))
	}
}

func countParts(s counter, parts []llm.Part) {
	for i := range parts {
		countPart(s, &parts[i])
	}
}

func countPart(s counter, p *llm.Part) {
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart, llm.ReasoningPart:
		s.text(p.Text)
	case llm.SealedPart:
		s.sealed(len(p.Text))
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		if p.Media != nil {
			s.medium(mediumOf(p.Kind, p.Media))
		}
	case llm.CallPart:
		if p.Call != nil {
			s.text(p.Call.Name)
			s.text(p.Call.Arguments)
		}
	case llm.ResultPart:
		if p.Result != nil {
			countParts(s, p.Result.Parts)
		}
	case llm.OpaquePart:
		s.text(string(p.Raw))
	}
}

func mediumOf(k llm.PartKind, m *llm.Media) *medium {
	switch {
	case m.Plain:
		return &medium{kind: document, plain: true, text: m.Data}
	case k == llm.AudioPart:
		return newMedium(audioMedium, m.MIME, m.Data, m.Detail)
	case k == llm.ImagePart:
		return newMedium(imageMedium, m.MIME, m.Data, m.Detail)
	}
	return newMedium(document, m.MIME, m.Data, m.Detail)
}

package dialect

import "sluice/internal/llm"

// Aside keeps what the results of tools hold that a shape has no place for in them, until a
// message of the user may have it: results of calls that were made together must stand
// together. The zero value is empty. It belongs to one request.
type Aside struct{ kept []kept }

type kept struct {
	m     *llm.Message
	parts []llm.Part
}

// Keep takes parts of the results in m.
func (a *Aside) Keep(m *llm.Message, parts []llm.Part) {
	if len(parts) > 0 {
		a.kept = append(a.kept, kept{m, parts})
	}
}

// Before is called before each message, with its role, and behind the last, with none: it
// hands what was kept to turn, where the results have ended.
func (a *Aside) Before(role llm.Role, turn func(m *llm.Message, parts []llm.Part) error) error {
	if role == llm.RoleTool {
		return nil
	}
	list := a.kept
	a.kept = nil
	for _, k := range list {
		if err := turn(k.m, k.parts); err != nil {
			return err
		}
	}
	return nil
}

package marks

import "bytes"

// messages reads the conversation. A turn of the user consists of the messages between two messages
// of the model, such as several results of tools.
func (s *scanner) messages() {
	begin := s.offset()
	leading := s.rules.Form == Chat // system messages at the beginning are the system prompt
	for i := range s.r.Elements() {
		first := len(s.marks)
		role, last := s.message(i)
		s.prefix(first, "messages", i)
		last.size = last.to - begin
		switch string(role) {
		case "system", "developer":
			if leading {
				s.setSystem(first, last)
			}
			continue
		case "assistant":
			s.answered = true
		case "user":
			s.addTurn(last)
		case "tool":
			if s.rules.Form == Chat && s.rules.ToolTurns {
				s.addTurn(last)
			}
		}
		leading = false
	}
	s.bytes[turnZone] = s.offset() - begin
}

// message reads one message and returns its role and the last block that can have a mark.
func (s *scanner) message(i int) (role []byte, last spot) {
	from := s.offset()
	for name := range s.r.Members() {
		switch string(name) {
		case "role":
			role = bytes.Trim(s.r.Raw(), `"`)
		case "content":
			last = s.content(turnZone, i, "content")
		case "cache_control":
			s.addMark(turnZone, from)
		}
	}
	return role, last
}

// setSystem makes a message a part of the system prompt, with its marks from index first on.
func (s *scanner) setSystem(first int, last spot) {
	for i := first; i < len(s.marks); i++ {
		s.marks[i].zone = systemZone
	}
	if last.to > 0 {
		last.zone = systemZone
		s.system = last
	}
}

// addTurn adds the last block of a message of the user.
func (s *scanner) addTurn(last spot) {
	if last.to == 0 {
		return
	}
	if s.answered {
		s.previous = s.turn
		s.answered = false
	}
	s.turn = last
}

package marks

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
		switch {
		case role == "system" || role == "developer":
			if leading {
				s.setZone(first, systemZone)
				s.setSystem(last)
			}
			continue
		case role == "assistant":
			s.answered = true
		case s.isTurn(role) && last.to > 0:
			s.addTurn(last)
		}
		leading = false
	}
	s.bytes[turnZone] = s.offset() - begin
}

// message reads one message and returns its role and the last block that can have a mark.
func (s *scanner) message(i int) (role string, last spot) {
	from := s.offset()
	for name := range s.r.Members() {
		switch string(name) {
		case "role":
			if raw := s.r.Raw(); len(raw) > 2 {
				role = string(raw[1 : len(raw)-1])
			}
		case "content":
			last = s.content(turnZone, i, "content")
		case "cache_control":
			s.addMark(turnZone, from)
		}
	}
	return role, last
}

func (s *scanner) setSystem(last spot) {
	if last.to > 0 {
		last.zone = systemZone
		s.system = last
	}
}

func (s *scanner) isTurn(role string) bool {
	return role == "user" || role == "tool" && s.rules.Form == Chat && s.rules.ToolTurns
}

func (s *scanner) addTurn(last spot) {
	if s.answered {
		s.previous = s.turn
		s.answered = false
	}
	s.turn = last
}

package sign

// Wait waits for the Google tokens that are being fetched.
func (s *Set) Wait() {
	g := s.schemes["gcp"].(*gcpSigner)
	g.tokens.mu.Lock()
	defer g.tokens.mu.Unlock()
	for _, source := range g.tokens.items {
		source.wait()
	}
}

func (s *tokenSource) wait() {
	s.mu.Lock()
	f := s.inflightFetch
	s.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

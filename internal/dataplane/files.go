package dataplane

import (
	"errors"
	"io"

	"sluice/internal/provider/transport"
)

// endToEnd is several files of a provider, read end to end: each is asked for when the one
// before it was read to its end. It belongs to one goroutine.
type endToEnd struct {
	transport.Body // that is being read
	further        []string
	open           func(url string) (transport.Body, error)
}

// Read reads on, in the next file where one ends.
func (e *endToEnd) Read(p []byte) (int, error) {
	for {
		n, err := e.Body.Read(p)
		if !errors.Is(err, io.EOF) || len(e.further) == 0 {
			return n, err
		}
		_ = e.Body.Close() // it was read to its end
		next, err := e.open(e.further[0])
		if err != nil {
			e.further = nil
			return n, err
		}
		if e.Body, e.further = next, e.further[1:]; n > 0 {
			return n, nil
		}
	}
}

// reworded is a provider's file in the caller's words.
type reworded struct {
	transport.Body           // of the provider
	translated     io.Reader // made of it
}

// Read returns what the next bytes are to the caller.
func (r *reworded) Read(p []byte) (int, error) { return r.translated.Read(p) }

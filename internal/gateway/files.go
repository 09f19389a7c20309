package gateway

import (
	"errors"
	"io"

	"sluice/internal/provider/transport"
)

// endToEnd reads several files of a provider as one. Each file is requested when the previous one
// was read to its end. It belongs to one goroutine.
type endToEnd struct {
	transport.Body // the current file
	further        []string
	open           func(url string) (transport.Body, error)
}

// Read reads the current file, then the next ones.
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

// reworded is a provider's file, translated to the caller's format.
type reworded struct {
	transport.Body           // the provider's file
	translated     io.Reader // its translation
}

// Read reads the translated file.
func (r *reworded) Read(p []byte) (int, error) { return r.translated.Read(p) }

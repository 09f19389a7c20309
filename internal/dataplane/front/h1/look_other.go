//go:build !linux

package h1

// polls needs no room where each connection is asked.
type polls struct{}

// left returns the connections that can be asked. Under TLS the end hides behind the
// client's farewell; there it shows when the next piece is written.
func (polls) left(waiting []*conn) []*conn {
	asked := waiting[:0]
	for _, c := range waiting {
		if !c.tls {
			asked = append(asked, c)
		}
	}
	return asked
}

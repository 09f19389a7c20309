package transport

import (
	"io"
	"net"

	"sluice/internal/wire"
)

// ReadAnswer reads one answer to method from nc as the client does, with reads of
// at most size bytes.
func ReadAnswer(nc net.Conn, method string, size int) (status int, hd wire.Header, text []byte, err error) {
	b := &body{cn: &conn{h: &host{c: &Client{opts: Options{MaxHeadBytes: 64 << 10}}, gone: true}, nc: nc, raw: nc}, buf: getBuffer()}
	h, err := b.receive(nil)
	if err != nil {
		b.finish(false)
		return 0, nil, nil, err
	}
	a := &answer{body: *b}
	a.fill(h, method)
	p := make([]byte, size)
	for {
		n, err := a.Body.Read(p)
		text = append(text, p[:n]...)
		if err == io.EOF {
			return h.status, h.header, text, nil
		}
		if err != nil {
			return h.status, h.header, text, err
		}
	}
}

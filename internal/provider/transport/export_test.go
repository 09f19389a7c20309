package transport

import (
	"io"
	"net"
	"strconv"
	"time"

	"sluice/internal/kernel/wire"
)

// ReadResponse reads one answer to method from nc as the client does, with reads of
// at most size bytes.
func ReadResponse(nc net.Conn, method string, size int) (status int, hd wire.Header, text []byte, err error) {
	b := &body{cn: &conn{h: &host{c: &Client{opts: Options{MaxHeadBytes: 64 << 10}}, gone: true}, nc: nc, raw: nc}, buf: getBuffer()}
	h, err := b.receive(nil)
	if err != nil {
		b.finish(false)
		return 0, nil, nil, err
	}
	a := &http1Response{body: *b}
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

// What is known of a request that got no answer.
const (
	PerhapsActed = int(perhapsActed)
	NoResponse   = int(noResponse)
	NotActed     = int(notActed)
)

// Repeatable reports whether a request is sent again when its connection fails so long
// after it was sent, for which it had waited before.
func Repeatable(method string, phase int, after, waited time.Duration) bool {
	return timing{start: time.Now().Add(-after - waited), queue: waited}.repeatable(method, failurePhase(phase))
}

// MaxHosts is how many hosts are remembered.
const MaxHosts = maxHosts

// FillHosts makes c remember as many hosts as it may, all of them reached a while ago.
func (c *Client) FillHosts() {
	for i := range maxHosts {
		c.addHost(hostKey{host: strconv.Itoa(i)}, &host{c: c, protocol: http1, used: time.Now().Add(-time.Second)})
	}
}

// Hosts is the number of hosts that c remembers.
func (c *Client) Hosts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.hosts)
}

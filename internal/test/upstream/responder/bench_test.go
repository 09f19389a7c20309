package responder_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"sluice/internal/test/upstream/responder"
)

// BenchmarkChat is a 690-byte question and a 1 KB answer, client included.
func BenchmarkChat(b *testing.B) {
	_, addr := serve(b, responder.Options{})
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a", 636) + `"}]}`
	request := fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		response := make([]byte, 4096)
		size := 0 // all answers are alike
		for pb.Next() {
			if _, err := c.Write(request); err != nil {
				b.Error(err)
				return
			}
			if size == 0 {
				size, err = c.Read(response)
			} else {
				_, err = io.ReadFull(c, response[:size])
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

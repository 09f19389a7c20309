package socket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/http1/socket"
)

// pair is both ends of a connection.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return socket.Wrap(near), far
}

// What many write at once arrives whole, each piece in one, and is read once, however
// many read.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const writers, writes = 8, 2000
	near, far := pair(t)
	echoed := make(chan error, 1)
	go func() { // sends back what comes
		_, err := io.Copy(far, far)
		echoed <- errors.Join(err, far.Close())
	}()
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			part := bytes.Repeat([]byte{byte('a' + w)}, 1+w*37)
			for range writes {
				if n, err := near.Write(part); n != len(part) || err != nil {
					t.Error(n, err)
					return
				}
			}
		})
	}
	var mu sync.Mutex
	var got [writers]int
	for range 3 {
		reading.Go(func() {
			buf := make([]byte, 512)
			for {
				n, err := near.Read(buf)
				mu.Lock()
				for _, c := range buf[:n] {
					got[c-'a']++
				}
				mu.Unlock()
				if err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	writing.Wait()
	if err := near.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	if err := <-echoed; err != nil {
		t.Error(err)
	}
	for w, n := range got {
		if want := writes * (1 + w*37); n != want {
			t.Errorf("%d bytes of %c instead of %d", n, 'a'+w, want)
		}
	}
}

// More than the system takes at once is written as it is read.
func TestLargeWrites(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	large := strings.Repeat("0123456789abcdef", 1<<20)
	written := make(chan error, 1)
	go func() {
		n, err := near.Write([]byte(large))
		if err == nil && n != len(large) {
			err = io.ErrShortWrite
		}
		writes := net.Buffers{[]byte("x"), []byte(large), []byte("y")}
		written <- errors.Join(err, socket.WriteBuffers(near, &writes), near.Close())
	}()
	got, err := io.ReadAll(far)
	if err := errors.Join(err, <-written); err != nil || string(got) != large+"x"+large+"y" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// Errors are those of net: limits, the other side's end, one's own.
func TestErrors(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	if n, err := near.Read(nil); n != 0 || err != nil {
		t.Error("an empty read:", n, err)
	}
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error("behind the limit:", err)
	}
	if err := errors.Join(near.SetReadDeadline(time.Time{}), far.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); err != io.EOF {
		t.Error("behind the end:", err)
	}
	var err error
	for range 100 { // until the answer to the first one is here
		if _, err = near.Write([]byte("x")); err != nil {
			break
		}
	}
	if op := (*net.OpError)(nil); !errors.As(err, &op) || op.Op != "write" {
		t.Error("to nobody:", err)
	}
	if err := near.Close(); err != nil {
		t.Error(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error("when closed:", err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Error("when closed:", err)
	}
}

// A write that nobody takes ends when its time is over, in one piece and in several, and
// the next one at once. A deadline holds alone.
func TestStall(t *testing.T) {
	t.Parallel()
	large := make([]byte, 32<<20) // more than the system takes
	for name, write := range map[string]func(net.Conn) error{
		"one piece": func(c net.Conn) error { _, err := c.Write(large); return err },
		"pieces":    func(c net.Conn) error { p := net.Buffers{large, large}; return socket.WriteBuffers(c, &p) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := pair(t)
			if !socket.SetWriteStall(near, 50*time.Millisecond) {
				t.Skip("connections are not bounded here")
			}
			for range 2 {
				if err := write(near); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("it ended with %v", err)
				}
			}
			near, far = pair(t)
			socket.SetWriteStall(near, 50*time.Millisecond)
			if err := near.SetDeadline(time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			written := make(chan error)
			go func() { written <- write(near) }()
			select {
			case err := <-written:
				t.Fatalf("the deadline is far, but it ended with %v", err)
			case <-time.After(200 * time.Millisecond):
			}
			go func() { _, _ = io.Copy(io.Discard, far) }()
			if err := <-written; err != nil {
				t.Fatal(err)
			}
			if err := near.SetDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := near.Write([]byte("x")); err != nil {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// What is over does not bound the writes behind it.
func TestStallIsOver(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	socket.SetWriteStall(near, time.Second)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	writes := net.Buffers{make([]byte, 1<<20), make([]byte, 1<<20)} // which has to wait
	if err := socket.WriteBuffers(near, &writes); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond) // it is the time itself that is tried
	if _, err := near.Write([]byte("x")); err != nil {
		t.Error(err)
	}
}

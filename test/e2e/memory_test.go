package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/test/upstream"
)

const (
	mega     = 1 << 20
	boundary = "e2e-boundary"
)

// zeros is an endless sound file.
type zeros struct{ sent atomic.Int64 }

func (z *zeros) Read(b []byte) (int, error) {
	clear(b)
	z.sent.Add(int64(len(b)))
	return len(b), nil
}

// transcribe uploads a file of a size without holding it; chunked leaves its length
// open. It returns how many bytes of the file were taken.
func (g *gateway) transcribe(size int64, chunked bool, headers ...string) (callResult, int64) {
	g.t.Helper()
	head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--" + boundary +
		"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"long.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
	end := "\r\n--" + boundary + "--\r\n"
	file := &zeros{}
	req, err := http.NewRequest("POST", g.base+"/v1/audio/transcriptions", io.MultiReader(strings.NewReader(head), io.LimitReader(file, size), strings.NewReader(end)))
	if err != nil {
		g.t.Fatal(err)
	}
	if !chunked {
		req.ContentLength = int64(len(head)+len(end)) + size
	}
	req.Header.Set("content-type", "multipart/form-data; boundary="+boundary)
	req.Header.Set("x-gateway-api-key", g.key)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := g.http.Do(req)
	if err != nil {
		return callResult{Err: err}, file.sent.Load()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return callResult{resp.StatusCode, resp.Header, resp.Proto, string(b), err}, file.sent.Load()
}

// peak is the most memory that a process has used so far, in bytes.
func (c *child) peak(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		t.Skipf("this system does not tell how much memory a process uses: %v", err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Skip("this system does not tell the peak")
	return 0
}

// Uploads pass through: their size does not show in the memory of the gateway, nor
// is anything left of them on its disk.
func TestUploadsDoNotGrowMemory(t *testing.T) {
	t.Parallel()
	const maxGrowth = 6 * mega
	up := upstream.Start(t, upstream.MaxBody(1<<10))
	g := start(t)
	for range 20 {
		a, _ := g.transcribe(mega, false, custom(up)...)
		a.want(t, 200)
	}
	before := g.child.peak(t)
	for _, chunked := range []bool{false, true} {
		a, _ := g.transcribe(25*mega, chunked, custom(up)...)
		a.want(t, 200)
		if seen := up.Seen(); seen[len(seen)-1].BodyBytes < 25*mega {
			t.Fatalf("%d bytes arrived", seen[len(seen)-1].BodyBytes)
		}
		grown := g.child.peak(t) - before
		t.Logf("25 MiB upload, chunked %v: peak %d MiB, %.1f MiB more than with 1 MiB uploads", chunked, g.child.peak(t)/mega, float64(grown)/mega)
		if grown > maxGrowth {
			t.Errorf("the upload (chunked %v) took %d bytes of memory", chunked, grown)
		}
	}
	left, err := filepath.Glob(filepath.Join(g.dir, "spool", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v %v", left, err)
	}
}

// A body that is too long is refused when that is known: at once when its length
// was told, else when the limit is passed.
func TestTooLongIsRefused(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	a, sent := g.transcribe(600*mega, false, custom(up)...)
	if a.Err != nil || a.Status != 413 || sent > 32*mega {
		t.Errorf("600 MiB: %d %s after %d bytes, %v", a.Status, a.Body, sent, a.Err)
	}
	small := start(t, with("MAX_UPLOAD_SIZE_IN_MB=1", "MAX_JSON_PAYLOAD_SIZE_IN_MB=1"))
	if a, sent := small.transcribe(100*mega, true, custom(up)...); a.Status != 413 || sent > 32*mega {
		t.Errorf("100 MiB without a length: %d %s after %d bytes, %v", a.Status, a.Body, sent, a.Err)
	}
	long := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 2*mega) + `"}]}`
	if a := small.call("POST", "/v1/chat/completions", long, custom(up)...); a.Status != 413 {
		t.Errorf("2 MiB of JSON: %d %s", a.Status, a.Body)
	}
	for _, s := range up.Seen() {
		if s.BodyErr == nil {
			t.Errorf("the provider was sent a whole body of %d bytes", s.BodyBytes)
		}
	}
	g.chat(custom(up)...)
}

package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
)

// Under cancelled calls, closed bodies, large and small uploads and chunked and
// sized answers, nobody is given a byte of another's answer.
func TestAnswersAreNeverMixed(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if r.URL.Query().Get("sized") != "" {
				w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			}
			_, _ = w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			_, _ = w.Write(body[len(body)/2:])
		}))
		c := newClient(t, o)
		var wg sync.WaitGroup
		for worker := range 12 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(7, uint64(worker)))
				for i := range 40 {
					want := bytes.Repeat([]byte(fmt.Sprintf("<%d.%d>", worker, i)), 1+rnd.IntN(20000))
					payload := wire.Bytes(want)
					if rnd.IntN(3) == 0 {
						payload = wire.Stream(bytes.NewReader(want), -1)
					}
					r := post(base, payload)
					r.Target = "/?sized=" + []string{"", "1"}[rnd.IntN(2)]
					ctx, cancel := context.WithCancel(context.Background())
					if rnd.IntN(4) == 0 {
						time.AfterFunc(time.Duration(rnd.IntN(3000))*time.Microsecond, cancel)
					}
					resp, err := c.Do(ctx, &r)
					var got []byte
					if err == nil {
						got, err = io.ReadAll(io.LimitReader(resp.Body, int64(rnd.IntN(3*len(want)))))
						_ = resp.Body.Close()
					}
					cancel()
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					if !bytes.HasPrefix(want, got) {
						t.Errorf("%d bytes that were not asked for", len(got))
					}
				}
			})
		}
		wg.Wait()
	})
}

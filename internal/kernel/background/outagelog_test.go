package background_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/kernel/background"
)

// Trouble of an hour that is met each second is told six times, and its end once.
func TestTroubleIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		countLogs := func() (errors, ends int) {
			text := log.String()
			return strings.Count(text, "level=ERROR"), strings.Count(text, "level=INFO")
		}
		outage := background.NewOutageLog(slog.New(slog.NewTextHandler(&log, nil)), "it does not go on", "it goes on")
		outage.Recovered()
		for range time.Hour / time.Second {
			outage.Failed(errors.New("the disk is full"), "retry", time.Second)
			time.Sleep(time.Second)
		}
		outage.Recovered()
		outage.Recovered()
		if errors, ends := countLogs(); errors != 6 || ends != 1 {
			t.Errorf("it was told %d times, its end %d times", errors, ends)
		}
		if text := log.String(); !strings.Contains(text, `msg="it goes on" after=1h0m0s`) || !strings.Contains(text, `error="the disk is full" since=`) || !strings.Contains(text, "retry=1s") {
			t.Error(text)
		}
		outage.Failed(errors.New("again"))
		if errors, _ := countLogs(); errors != 7 {
			t.Errorf("what came again was told %d times", errors-6)
		}
	})
}

package upstreamerror

import (
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/jsonedit"
)

// RetryDelay is the delay before the next try that Google requests in the body of an error:
// {"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}},
// also in a list with one element. It reports false if the body contains no delay.
// Source: https://cloud.google.com/apis/design/errors#error_details, read 2026-11.
func RetryDelay(body []byte) (time.Duration, bool) {
	details, _ := jsonedit.Find(unwrapped(body), "error", "details")
	for item := range jsonedit.Elements(details) {
		if !strings.HasSuffix(jsonedit.Text(item, "@type"), "google.rpc.RetryInfo") {
			continue
		}
		seconds, ok := strings.CutSuffix(jsonedit.Text(item, "retryDelay"), "s")
		n, err := strconv.ParseFloat(seconds, 64)
		if !ok || err != nil || !(n > 0 && n < maxRetryDelay.Seconds()) {
			return 0, false
		}
		return time.Duration(n * float64(time.Second)), true
	}
	return 0, false
}

// maxRetryDelay is longer than any plausible delay.
const maxRetryDelay = 31 * 24 * time.Hour

package suites

import (
	"mime"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/test/upstream"
)

// Requests are what arrived: method, target and body, in the order of this text. What
// differs from run to run is taken out: the boundaries of forms, which clients draw by
// lot, and times, which are those of the run. The requests for nothing by which tests
// see whether the server is there are left out.
func Requests(seen []upstream.Seen, probe string) []string {
	var all []string
	for i := range seen {
		if s := &seen[i]; s.Method != "GET" || s.Target != probe {
			all = append(all, request(s))
		}
	}
	slices.Sort(all)
	return all
}

// moment is a time of a run, in a body or a query.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d(:|%3A)\d\d(:|%3A)\d\dZ`)

func request(s *upstream.Seen) string {
	text := s.Method + " " + s.Target + "\n" + string(s.Body)
	if _, params, err := mime.ParseMediaType(s.Get("content-type")); err == nil && params["boundary"] != "" {
		text = strings.ReplaceAll(text, params["boundary"], "BOUNDARY")
	}
	return moment.ReplaceAllString(text, "TIME")
}

package pagination_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func numbered(maxLimit int) *pagination.Pages {
	return &pagination.Pages{
		Items: "jobs", Token: "next", Size: "size", After: "token", Usual: 3, MaxLimit: maxLimit,
		IsID: func(after string) bool { return strings.HasPrefix(after, "job-") },
		Write: func(w *jsonwriter.Writer, item []byte) {
			w.Open('{')
			w.Str("id", jsonedit.Text(item, "n"))
			w.Close('}')
		},
	}
}

// kinds are a list in pages with tokens, one in counted pages, one in numbered pages and one
// that is given whole.
func kinds(maxLimit int) map[string]*pagination.Pages {
	token, counted, unpaged, pages := numbered(maxLimit), numbered(maxLimit), numbered(maxLimit), numbered(maxLimit)
	pages.Token, pages.Total, pages.After = "", "total", "page"
	counted.Token, counted.Size, counted.After = "", "limit", "offset"
	unpaged.Token, unpaged.Size, unpaged.After = "", "", ""
	return map[string]*pagination.Pages{"token": token, "counted": counted, "whole": unpaged, "pages": pages}
}

// provider gives the page of a list of so many jobs that a query asks for.
func provider(t *testing.T, jobs int, query string) []byte {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	size, err := strconv.Atoi(q.Get("size") + q.Get("limit"))
	if err != nil {
		size = jobs
	}
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("token"), "t/") + q.Get("offset"))
	if page, err := strconv.Atoi(q.Get("page")); err == nil {
		from = page * size
	}
	to := min(from+size, jobs)
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("jobs").Open('[')
	for n := from; n < to; n++ {
		w.Value(fmt.Appendf(nil, `{"n":"job-%d"}`, n))
	}
	w.Close(']')
	w.Int("total", int64(jobs))
	if to < jobs {
		w.Str("next", "t/"+strconv.Itoa(to))
	}
	w.Close('}')
	return w.B
}

// list answers a caller's query, and says how many calls that took.
func list(t *testing.T, p *pagination.Pages, jobs int, query string) (text string, calls int, err error) {
	t.Helper()
	out, err := p.EncodeRequest(query)
	if err != nil {
		return "", 0, err
	}
	incoming := &dialect.Incoming{Sent: &dialect.Request{Endpoint: llm.ListBatches, Query: query}, Body: provider(t, jobs, out.Query)}
	for calls = 1; ; calls++ {
		next, more, err := p.Follow(incoming)
		if err != nil {
			return "", calls, err
		}
		if !more {
			break
		}
		incoming.More = append(incoming.More, provider(t, jobs, next.Query))
	}
	a, err := p.BuildResponse(incoming)
	if err != nil {
		return "", calls, err
	}
	return string(a.Body), calls, nil
}

// Wherever a caller goes on, it gets the items behind the one it has, and is told whether
// there are more.
func TestPagesGoOnBehindAnItem(t *testing.T) {
	t.Parallel()
	for name, p := range kinds(4) {
		for jobs := range 13 {
			t.Run(fmt.Sprintf("%s/%d", name, jobs), func(t *testing.T) { goesOn(t, p, jobs) })
		}
	}
}

func goesOn(t *testing.T, p *pagination.Pages, jobs int) {
	t.Helper()
	for after := range jobs {
		for limit := 1; limit <= 4; limit++ {
			text, _, err := list(t, p, jobs, fmt.Sprintf("after=job-%d&limit=%d", after, limit))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for n := after + 1; n < min(after+1+limit, jobs); n++ {
				want = append(want, fmt.Sprintf("job-%d", n))
			}
			var got []string
			data, _ := jsonedit.Find([]byte(text), "data")
			for item := range jsonedit.Elements(data) {
				got = append(got, jsonedit.Text(item, "id"))
			}
			more, _ := jsonedit.Find([]byte(text), "has_more")
			if !slices.Equal(got, want) || string(more) != strconv.FormatBool(after+1+limit < jobs) {
				t.Errorf("%d behind job-%d: %s", limit, after, text)
			}
			if len(want) > 0 && (jsonedit.Text([]byte(text), "first_id") != want[0] || jsonedit.Text([]byte(text), "last_id") != want[len(want)-1]) {
				t.Errorf("%d behind job-%d: ends %s", limit, after, text)
			}
		}
	}
}

// A client that asks for page after page, as OpenAI's do, sees every item once.
func TestPagesAreWalkedByClients(t *testing.T) {
	t.Parallel()
	for name, p := range kinds(4) {
		for jobs := range 10 {
			t.Run(fmt.Sprintf("%s/%d", name, jobs), func(t *testing.T) { isWalked(t, p, jobs) })
		}
	}
}

func isWalked(t *testing.T, p *pagination.Pages, jobs int) {
	t.Helper()
	query, seen := "limit=2", 0
	for range 20 {
		text, _, err := list(t, p, jobs, query)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := jsonedit.Find([]byte(text), "data")
		for item := range jsonedit.Elements(data) {
			if id := jsonedit.Text(item, "id"); id != fmt.Sprintf("job-%d", seen) {
				t.Fatalf("item %d is %s", seen, id)
			}
			seen++
		}
		if !strings.Contains(text, `"has_more":true`) {
			break
		}
		query = "limit=2&after=" + jsonedit.Text([]byte(text), "last_id")
	}
	if seen != jobs {
		t.Errorf("%d items of %d", seen, jobs)
	}
}

func TestPagesByToken(t *testing.T) {
	t.Parallel()
	p := numbered(4)
	text, calls, err := list(t, p, 9, "limit=2&after=t%2F4")
	if want := `{"object":"list","data":[{"id":"job-4"},{"id":"job-5"}],"first_id":"job-4","last_id":"job-5","has_more":true,"next_page_token":"t/6"}`; text != want || calls != 1 || err != nil {
		t.Errorf("%s after %d calls, %v", text, calls, err)
	}
	text, _, err = list(t, p, 0, "")
	if want := `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}`; text != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// The search for an item has an end, and says how to go on.
func TestPagesLimits(t *testing.T) {
	t.Parallel()
	p := numbered(4)
	if _, calls, err := list(t, p, 1000, "after=job-999&limit=1"); !fault.Has(err, fault.InvalidParameter) || calls != 21 || !strings.Contains(err.Error(), "searches 84") {
		t.Errorf("far: %d calls, %v", calls, err)
	}
	if _, calls, err := list(t, p, 1000, "after=job-83&limit=4"); !fault.Has(err, fault.InvalidParameter) || calls != 21 {
		t.Errorf("the last of the search: %d calls, %v", calls, err)
	}
	if text, calls, err := list(t, p, 1000, "after=job-82&limit=4"); err != nil || calls != 21 || !strings.Contains(text, `"data":[{"id":"job-83"}],"first_id":"job-83","last_id":"job-83","has_more":true`) {
		t.Errorf("at the end of the search: %d calls, %s, %v", calls, text, err)
	}
	for _, query := range []string{"after=job-x", "limit=0", "limit=5", "limit=x", "limit=-1"} {
		if _, _, err := list(t, p, 9, query); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, _, err := list(t, p, 9, "a=%zz"); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("a broken query: %v", err)
	}
}

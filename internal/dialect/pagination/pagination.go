// Package pagination translates the pages of OpenAI's lists to those of a provider, whatever its
// parameters for pages are. Start with Pages.
package pagination

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// Pages translates a provider's list for callers that continue after the last item of a page,
// as OpenAI's clients do: limit and after in; first_id, last_id and has_more out. The provider
// finds a page by a token of its own, by the number of items before it or by the page number, or
// it returns the complete list at once.
//
// The gateway stores no state. To continue after an item id it reads the list from its beginning,
// at most maxWalkPages pages after the first. A caller that sends the next_page_token of a page as
// after gets the next page directly.
//
// A Pages never changes and is safe for concurrent use.
type Pages struct {
	Items string // member of a response with the items: "datasets"
	Token string // member with the next token: "nextPageToken"; empty: the token is the number of items before a page
	Size  string // parameter for the page length: "pageSize"; empty: the provider returns the complete list
	After string // parameter for the token: "pageToken", "offset"
	// Total is the member of a response with the number of all items, "total", if the token is
	// the page number, 0 for the first page. It is empty otherwise.
	Total                string
	Usual                int  // page length if the caller sends no limit
	MaxLimit             int  // maximum page length of the provider
	ItemsRequired        bool // Items is present even in an empty list; otherwise it may be absent
	ForwardUnknownParams bool // parameters that are not OpenAI's are forwarded; otherwise they are dropped
	// IsID reports whether after, as Plain returns it, is the id of an item and not a token.
	IsID func(after string) bool
	// Plain returns the one spelling of an id that is compared; nil if ids have one spelling only.
	Plain func(id string) string
	// Write writes an item as callers receive it, with its id.
	Write func(w *jsonwriter.Writer, item []byte)
}

// Limits of the search for an item: the number of pages after the first, and the page length if
// the provider permits longer pages. (ours)
const (
	maxWalkPages = 20
	walkSize     = 500
)

// listRequest is the caller's parsed query for a list.
type listRequest struct {
	limit int
	after string // id or token
	walk  bool   // after is an id
	rest  url.Values
}

func (p *Pages) read(query string) (*listRequest, error) {
	rest, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the query is not valid URL encoding").WithCause(err)
	}
	a := &listRequest{limit: p.Usual, after: rest.Get("after"), rest: rest}
	if text := rest.Get("limit"); text != "" {
		if a.limit, err = strconv.Atoi(text); err != nil || a.limit < 1 || a.limit > p.MaxLimit {
			return nil, fault.Newf(fault.InvalidParameter, "limit must be an integer between 1 and %d", p.MaxLimit).WithParam("limit")
		}
	}
	if id := p.plain(a.after); id != "" && p.IsID(id) {
		a.after, a.walk = id, true
	}
	delete(rest, "limit")
	delete(rest, "after")
	return a, nil
}

func (p *Pages) plain(id string) string {
	if p.Plain == nil {
		return id
	}
	return p.Plain(id)
}

// query returns the query for a page. An empty token means the first page.
func (p *Pages) query(a *listRequest, token string) string {
	q := url.Values{}
	if p.ForwardUnknownParams {
		q = maps.Clone(a.rest)
	}
	switch {
	case p.counted(): // one extra item shows whether more follow
		q.Set(p.Size, strconv.Itoa(p.size(a)+1))
	case p.Size != "":
		q.Set(p.Size, strconv.Itoa(p.size(a)))
	}
	if token != "" {
		q.Set(p.After, token)
	}
	return strings.ReplaceAll(q.Encode(), "+", "%20") // signatures need %20
}

// counted reports whether the token of a page is the number of items before it; isUnpaged, whether
// the provider returns a single page.
func (p *Pages) counted() bool   { return p.Token == "" && p.Size != "" && p.Total == "" }
func (p *Pages) isUnpaged() bool { return p.Token == "" && p.Size == "" }

// size returns the length of the page to request from the provider.
func (p *Pages) size(a *listRequest) int {
	if a.walk {
		return min(p.MaxLimit, walkSize)
	}
	return a.limit
}

// EncodeRequest builds the list request for the caller's query. A limit that is not an integer
// from 1 to MaxLimit is fault.InvalidParameter.
func (p *Pages) EncodeRequest(query string) (*dialect.Outgoing, error) {
	a, err := p.read(query)
	if err != nil {
		return nil, err
	}
	token := a.after
	if a.walk {
		token = ""
	}
	out := &dialect.Outgoing{Query: p.query(a, token)}
	if !p.ForwardUnknownParams {
		out.Dropped = slices.Sorted(maps.Keys(a.rest))
	}
	return out, nil
}

// Follow implements MultiStep.Follow for a list. It requests the next page until it has all items
// that the caller requested. An id that is not on the pages that may be read is
// fault.InvalidParameter.
func (p *Pages) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	a, err := p.read(incoming.Sent.Query)
	if err != nil || !a.walk {
		return dialect.Next{}, false, err
	}
	s := p.section(incoming, a)
	switch {
	case len(s.items) == a.limit || s.found && s.token == "":
		return dialect.Next{}, false, nil
	case s.token == "":
		return dialect.Next{}, false, fault.New(fault.InvalidParameter, "after must be the id of an item of the list").WithParam("after")
	case len(incoming.More) == maxWalkPages && len(s.items) == 0:
		return dialect.Next{}, false, fault.Newf(fault.InvalidParameter, "after is not among the first items of the list, of which the gateway searches %d; send the next_page_token of a page as after instead", s.seen).WithParam("after")
	case len(incoming.More) == maxWalkPages:
		return dialect.Next{}, false, nil
	}
	return dialect.Next{Endpoint: incoming.Sent.Endpoint, Query: p.query(a, s.token)}, true, nil
}

// section is the part of the list that the caller requested.
type section struct {
	items [][]byte // as callers receive them
	first string
	last  string
	seen  int
	pages int    // number of pages read
	found bool   // its beginning was found
	more  bool   // further items follow it
	token string // of the page after those that were read
}

func (p *Pages) section(incoming *dialect.Incoming, a *listRequest) *section {
	s := &section{found: !a.walk}
	s.page(p, incoming.Body, a)
	for _, body := range incoming.More {
		s.page(p, body, a)
	}
	s.more = s.more || s.token != ""
	return s
}

func (s *section) page(p *Pages, body []byte, a *listRequest) {
	list, _ := jsonedit.Find(body, p.Items)
	before := s.seen
	s.token = jsonedit.Text(body, p.Token)
	for raw := range jsonedit.Elements(list) {
		if p.counted() && s.seen-before == p.size(a) {
			s.token = p.tokenAfter(a, s.seen)
			break
		}
		s.seen++
		if s.found && (a.walk || p.isUnpaged()) && len(s.items) == a.limit {
			s.more = true
			return
		}
		var w jsonwriter.Writer
		p.Write(&w, raw)
		id := jsonedit.Text(w.B, "id")
		if !s.found {
			s.found = p.plain(id) == a.after
			continue
		}
		if s.items = append(s.items, w.B); s.first == "" {
			s.first = id
		}
		s.last = id
	}
	if p.Total != "" {
		s.token = p.nextNumber(a, s.pages, body)
	}
	s.pages++
}

// nextNumber returns the number of the page after the current one, which has this body; empty if
// the current page is the last. read is the number of pages read before it.
func (p *Pages) nextNumber(a *listRequest, read int, body []byte) string {
	if n, err := strconv.Atoi(a.after); err == nil && !a.walk {
		read += n
	}
	raw, _ := jsonedit.Find(body, p.Total)
	if total, ok := usage.Count(raw); !ok || int64(read+1)*int64(p.size(a)) >= total {
		return ""
	}
	return strconv.Itoa(read + 1)
}

// tokenAfter returns the token of the page after the seen items, if the token is the number of all
// items before a page.
func (p *Pages) tokenAfter(a *listRequest, seen int) string {
	if n, err := strconv.Atoi(a.after); err == nil && !a.walk {
		seen += n
	}
	return strconv.Itoa(seen)
}

// BuildResponse writes {"object":"list","data":[…],"first_id":…,"last_id":…,"has_more":false}.
// Unless the caller continues after an item id, next_page_token is the token of the next page.
func (p *Pages) BuildResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	a, err := p.read(incoming.Sent.Query)
	if err != nil {
		return nil, err
	}
	if _, found := jsonedit.Find(incoming.Body, p.Items); !jsonedit.Valid(incoming.Body) || p.ItemsRequired && !found {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a list")
	}
	s := p.section(incoming, a)
	var w jsonwriter.Writer
	w.OpenList()
	for _, item := range s.items {
		w.Value(item)
	}
	w.ClosePage(s.first, s.last, s.more)
	if !a.walk {
		w.Opt("next_page_token", s.token)
	}
	w.Close('}')
	return &dialect.Response{Body: w.B}, nil
}

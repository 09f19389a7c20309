package dialect

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/splice"
)

// Pagination is a list of a provider whose pages follow each other by a token of its own, by
// the number of items before them or by their own number, or which is given whole at once, for
// callers who go on from the last item that they have, as OpenAI's clients do: limit and
// after in, first_id, last_id and has_more out. No state is kept: to go on behind an item
// the list is read from its beginning, at most maxWalkPages pages of it. A caller who gives
// the token, next_page_token of a page, as after gets the next page at once.
//
// It never changes and is safe for concurrent use.
type Pagination struct {
	Items string // member of an answer with the items: "datasets"
	Token string // and with the token: "nextPageToken"; empty: the token is the number of items before a page
	Size  string // parameter for the length of a page: "pageSize"; empty: the provider gives the whole list
	After string // and for the token: "pageToken", "offset"
	// Total is the member of an answer with the number of all items, "total", where the token
	// is the number of the page, 0 for the first; empty elsewhere.
	Total                string
	Usual                int  // length of a page when the caller says none
	MaxLimit             int  // the longest that the provider gives
	ItemsRequired        bool // Items is there even when there are none; otherwise it may be absent
	ForwardUnknownParams bool // parameters that are not OpenAI's go along; otherwise they are lost
	// IsID reports whether after is the id of an item, as Plain makes it, and no token.
	IsID func(after string) bool
	// Plain makes one spelling of an id; nil when there is only one.
	Plain func(id string) string
	// Write writes an item as callers get it, with its id.
	Write func(w *JSON, item []byte)
}

// Bounds of the search for an item: pages behind the first, and their length where the
// provider gives longer ones. (ours)
const (
	maxWalkPages = 20
	walkSize     = 500
)

// listRequest is what a caller wants of a list.
type listRequest struct {
	limit int
	after string // id or token
	walk  bool   // after is an id
	rest  url.Values
}

func (p *Pagination) read(query string) (*listRequest, error) {
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

func (p *Pagination) plain(id string) string {
	if p.Plain == nil {
		return id
	}
	return p.Plain(id)
}

// query asks for a page: the first when token is empty.
func (p *Pagination) query(a *listRequest, token string) string {
	q := url.Values{}
	if p.ForwardUnknownParams {
		q = maps.Clone(a.rest)
	}
	switch {
	case p.counted(): // one more than wanted tells whether there is more
		q.Set(p.Size, strconv.Itoa(p.size(a)+1))
	case p.Size != "":
		q.Set(p.Size, strconv.Itoa(p.size(a)))
	}
	if token != "" {
		q.Set(p.After, token)
	}
	return strings.ReplaceAll(q.Encode(), "+", "%20") // which signatures want
}

// counted reports whether the token of a page is the number of items before it, whole
// whether there is but one page.
func (p *Pagination) counted() bool   { return p.Token == "" && p.Size != "" && p.Total == "" }
func (p *Pagination) isUnpaged() bool { return p.Token == "" && p.Size == "" }

// size is the length of a page of the provider's.
func (p *Pagination) size(a *listRequest) int {
	if a.walk {
		return min(p.MaxLimit, walkSize)
	}
	return a.limit
}

// EncodeRequest makes the request for a list of the caller's query. A limit that is none, or that
// the provider does not give, is fault.InvalidParameter.
func (p *Pagination) EncodeRequest(query string) (*Outgoing, error) {
	a, err := p.read(query)
	if err != nil {
		return nil, err
	}
	token := a.after
	if a.walk {
		token = ""
	}
	out := &Outgoing{Query: p.query(a, token)}
	if !p.ForwardUnknownParams {
		out.Dropped = slices.Sorted(maps.Keys(a.rest))
	}
	return out, nil
}

// Follow is Follower.Follow of a list: the next page as long as the items that the caller
// wants are not all there. An id that is not among those of the pages that may be read is
// fault.InvalidParameter.
func (p *Pagination) Follow(incoming *Incoming) (Next, bool, error) {
	a, err := p.read(incoming.Sent.Query)
	if err != nil || !a.walk {
		return Next{}, false, err
	}
	s := p.section(incoming, a)
	switch {
	case len(s.items) == a.limit || s.found && s.token == "":
		return Next{}, false, nil
	case s.token == "":
		return Next{}, false, fault.New(fault.InvalidParameter, "after must be the id of an item of the list").WithParam("after")
	case len(incoming.More) == maxWalkPages && len(s.items) == 0:
		return Next{}, false, fault.Newf(fault.InvalidParameter, "after is not among the first items of the list, of which the gateway searches %d; send the next_page_token of a page as after instead", s.seen).WithParam("after")
	case len(incoming.More) == maxWalkPages:
		return Next{}, false, nil
	}
	return Next{Endpoint: incoming.Sent.Endpoint, Query: p.query(a, s.token)}, true, nil
}

// section is the part of the list that the caller wants.
type section struct {
	items [][]byte // written
	first string
	last  string
	seen  int
	pages int    // that were read
	found bool   // where it begins
	more  bool   // there is something behind it
	token string // of the page behind those that were read
}

func (p *Pagination) section(incoming *Incoming, a *listRequest) *section {
	s := &section{found: !a.walk}
	s.page(p, incoming.Body, a)
	for _, body := range incoming.More {
		s.page(p, body, a)
	}
	s.more = s.more || s.token != ""
	return s
}

func (s *section) page(p *Pagination, body []byte, a *listRequest) {
	list, _ := splice.Find(body, p.Items)
	before := s.seen
	s.token = splice.Text(body, p.Token)
	for raw := range splice.Elements(list) {
		if p.counted() && s.seen-before == p.size(a) {
			s.token = p.tokenAfter(a, s.seen)
			break
		}
		s.seen++
		if s.found && (a.walk || p.isUnpaged()) && len(s.items) == a.limit {
			s.more = true
			return
		}
		var w JSON
		p.Write(&w, raw)
		id := splice.Text(w.B, "id")
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

// nextNumber is the number of the page after so many that were read and the current one, with
// that body; empty when it is the last.
func (p *Pagination) nextNumber(a *listRequest, read int, body []byte) string {
	if n, err := strconv.Atoi(a.after); err == nil && !a.walk {
		read += n
	}
	raw, _ := splice.Find(body, p.Total)
	if total, ok := Count(raw); !ok || int64(read+1)*int64(p.size(a)) >= total {
		return ""
	}
	return strconv.Itoa(read + 1)
}

// tokenAfter is the token of the page behind so many items that were read, where it is the
// number of all items before it.
func (p *Pagination) tokenAfter(a *listRequest, seen int) string {
	if n, err := strconv.Atoi(a.after); err == nil && !a.walk {
		seen += n
	}
	return strconv.Itoa(seen)
}

// BuildResponse writes {"object":"list","data":[…],"first_id":…,"last_id":…,"has_more":false}.
// Where a page of the provider's is given as it is, next_page_token is its token.
func (p *Pagination) BuildResponse(incoming *Incoming) (*Response, error) {
	a, err := p.read(incoming.Sent.Query)
	if err != nil {
		return nil, err
	}
	if _, found := splice.Find(incoming.Body, p.Items); !splice.Valid(incoming.Body) || p.ItemsRequired && !found {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a list")
	}
	s := p.section(incoming, a)
	var w JSON
	w.OpenList()
	for _, item := range s.items {
		w.Value(item)
	}
	w.ClosePage(s.first, s.last, s.more)
	if !a.walk {
		w.Opt("next_page_token", s.token)
	}
	w.Close('}')
	return &Response{Body: w.B}, nil
}

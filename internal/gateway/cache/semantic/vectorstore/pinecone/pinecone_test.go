package pinecone_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/pinecone"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
	"sluice/internal/kernel/sealed"
)

// server is a fake of Pinecone's published interface. It accepts the documented members only.
type server struct {
	t       *testing.T
	host    string
	vectors map[string]vector
	lookups int
	leaks   bool // ignores filters
	fails   error
}

type vector struct {
	ID       string         `json:"id"`
	Values   []float32      `json:"values"`
	Metadata map[string]any `json:"metadata"`
}

func newServer(t *testing.T) *server {
	return &server{t: t, host: "responses-abc123.svc.us-east-1-aws.pinecone.io", vectors: map[string]vector{}}
}

func (s *server) Do(_ context.Context, r *vectorstore.Request) (*vectorstore.Response, error) {
	if !hasHeader(r.Header, "Api-Key", "secret") || !hasHeader(r.Header, "X-Pinecone-Api-Version", "2025-01") {
		s.t.Errorf("%s: no credential or version", r.URL)
	}
	if s.fails != nil {
		return nil, s.fails
	}
	if r.URL == "https://api.pinecone.io/indexes/responses" && r.Method == "GET" {
		s.lookups++
		return respond(200, map[string]any{"name": "responses", "host": s.host, "dimension": 8, "metric": "cosine"})
	}
	path, ok := strings.CutPrefix(r.URL, "https://"+s.host)
	if !ok {
		return respond(404, map[string]any{})
	}
	switch path {
	case "/vectors/upsert":
		return s.upsert(r.Body)
	case "/query":
		return s.query(r.Body)
	case "/vectors/delete":
		return s.remove(r.Body)
	}
	s.t.Errorf("unexpected path %s", path)
	return respond(404, nil)
}

func hasHeader(header [][2]string, name, value string) bool {
	return slices.Contains(header, [2]string{name, value})
}

func respond(status int, body any) (*vectorstore.Response, error) {
	raw, err := json.Marshal(body)
	return &vectorstore.Response{Status: status, Body: raw}, err
}

func (s *server) decode(raw []byte, out any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(out); err != nil {
		s.t.Errorf("%v in %s", err, raw)
	}
}

func (s *server) upsert(raw []byte) (*vectorstore.Response, error) {
	var body struct {
		Vectors   []vector `json:"vectors"`
		Namespace string   `json:"namespace"`
	}
	s.decode(raw, &body)
	if body.Namespace != "sluice-semantic-cache" {
		s.t.Errorf("got the namespace %q", body.Namespace)
	}
	for _, v := range body.Vectors {
		s.vectors[v.ID] = v
	}
	return respond(200, map[string]any{"upsertedCount": len(body.Vectors)})
}

func (s *server) query(raw []byte) (*vectorstore.Response, error) {
	var body struct {
		Vector          []float32 `json:"vector"`
		TopK            int       `json:"topK"`
		IncludeMetadata bool      `json:"includeMetadata"`
		Namespace       string    `json:"namespace"`
		Filter          struct {
			Partition struct {
				Eq string `json:"$eq"`
			} `json:"partition"`
			Expires struct {
				Gt float64 `json:"$gt"`
			} `json:"expires"`
		} `json:"filter"`
	}
	s.decode(raw, &body)
	if len(body.Filter.Partition.Eq) != 64 || body.TopK < 1 || !body.IncludeMetadata {
		s.t.Fatalf("a query without a filter for its partition: %s", raw)
	}
	type match struct {
		ID       string         `json:"id"`
		Score    float64        `json:"score"`
		Metadata map[string]any `json:"metadata"`
	}
	found := []match{}
	for id, v := range s.vectors {
		if s.leaks || v.Metadata["partition"] == body.Filter.Partition.Eq && v.Metadata["expires"].(float64) > body.Filter.Expires.Gt {
			found = append(found, match{id, cosine(body.Vector, v.Values), v.Metadata})
		}
	}
	slices.SortFunc(found, func(a, b match) int { return int(math.Copysign(1, b.Score-a.Score)) })
	return respond(200, map[string]any{"matches": found[:min(len(found), body.TopK)], "namespace": body.Namespace})
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func (s *server) remove(raw []byte) (*vectorstore.Response, error) {
	var body struct {
		IDs       []string `json:"ids"`
		DeleteAll bool     `json:"deleteAll"`
		Namespace string   `json:"namespace"`
	}
	s.decode(raw, &body)
	if len(body.IDs) > 1000 {
		s.t.Errorf("%d ids in one request, the limit is 1000", len(body.IDs))
	}
	if len(s.vectors) == 0 {
		return respond(404, map[string]any{"code": 5, "message": "Namespace not found"})
	}
	if body.DeleteAll {
		clear(s.vectors)
	}
	for _, id := range body.IDs {
		delete(s.vectors, id)
	}
	return respond(200, map[string]any{})
}

func open(t *testing.T, s *server, clock *vectorstoretest.Clock) *pinecone.Store {
	t.Helper()
	store, err := pinecone.New(s, clock, pinecone.Options{Index: "responses", APIKey: sealed.New("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStore_IsAVectorStore(t *testing.T) {
	t.Parallel()
	vectorstoretest.Run(t, func(t *testing.T, clock *vectorstoretest.Clock) vectorstore.Store {
		return open(t, newServer(t), clock)
	})
}

func put(t *testing.T, s vectorstore.Store) {
	t.Helper()
	err := s.Put(t.Context(), vectorstore.Entry{
		Key: vectorstoretest.Key(1), Partition: vectorstoretest.Partition(1), Vector: vectorstoretest.Vector(1),
		Text: "a", Expires: vectorstoretest.Start.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, s vectorstore.Store, partition byte) ([]vectorstore.Match, error) {
	t.Helper()
	return s.Search(t.Context(), vectorstore.Search{
		Partition: vectorstoretest.Partition(partition), Vector: vectorstoretest.Vector(1), Threshold: 0.5, Limit: 8,
	})
}

func TestStore_LooksUpTheHostOnce(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	store := open(t, server, &vectorstoretest.Clock{Time: vectorstoretest.Start})
	put(t, store)
	for range 3 {
		if found, err := find(t, store, 1); len(found) != 1 || err != nil {
			t.Errorf("found %+v, %v", found, err)
		}
	}
	if server.lookups != 1 {
		t.Errorf("%d lookups of the host, want 1", server.lookups)
	}
}

func TestStore_FindsAnIndexThatWasCreatedAgain(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	store := open(t, server, &vectorstoretest.Clock{Time: vectorstoretest.Start})
	put(t, store)
	server.host = "responses-new.svc.us-east-1-aws.pinecone.io"
	if _, err := find(t, store, 1); !errors.Is(err, vectorstore.ErrStatus) {
		t.Errorf("got %v, want an error of the old host", err)
	}
	if found, err := find(t, store, 1); len(found) != 1 || err != nil {
		t.Errorf("found %+v, %v at the new host", found, err)
	}
}

func TestStore_SendsTheKeyToPineconeOnly(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"evil.example.com", "evil.example.com/.pinecone.io", "pinecone.io.evil.example", "evil@x.pinecone.io", ""} {
		server := newServer(t)
		server.host = host
		store := open(t, server, &vectorstoretest.Clock{})
		if _, err := find(t, store, 1); !errors.Is(err, vectorstore.ErrResponse) {
			t.Errorf("%q: got %v, want ErrResponse", host, err)
		}
	}
}

func TestSearch_DoesNotTrustTheServersFilter(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.leaks = true
	clock := &vectorstoretest.Clock{Time: vectorstoretest.Start}
	store := open(t, server, clock)
	put(t, store)
	if found, err := find(t, store, 2); len(found) != 0 || err != nil {
		t.Errorf("partition 2 found %+v of partition 1, %v", found, err)
	}
	clock.Time = clock.Time.Add(time.Hour)
	if found, err := find(t, store, 1); len(found) != 0 || err != nil {
		t.Errorf("an expired entry was found: %+v, %v", found, err)
	}
}

func TestDelete_SendsManyKeysInSeveralRequests(t *testing.T) {
	t.Parallel()
	store := open(t, newServer(t), &vectorstoretest.Clock{})
	if err := store.Delete(t.Context(), make([]vectorstore.Key, 2500)...); err != nil {
		t.Error(err)
	}
}

func TestStore_ReturnsTheErrorOfTheConnection(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.fails = context.DeadlineExceeded
	if _, err := find(t, open(t, server, &vectorstoretest.Clock{}), 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestNew_NamesTheWrongSetting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ index, key, want string }{
		{"", "k", "VECTOR_STORE_ADDRESS"},
		{"https://x.pinecone.io", "k", "VECTOR_STORE_ADDRESS"},
		{"../x", "k", "VECTOR_STORE_ADDRESS"},
		{"x", "", "VECTOR_STORE_API_KEY"},
	} {
		_, err := pinecone.New(nil, nil, pinecone.Options{Index: c.index, APIKey: sealed.New(c.key)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want an error about %s", c.index, err, c.want)
		}
	}
}

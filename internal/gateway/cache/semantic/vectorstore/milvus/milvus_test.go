package milvus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/milvus"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
	"sluice/internal/kernel/sealed"
)

// server is a fake of Milvus' published interface. It accepts the documented members only.
type server struct {
	t           *testing.T
	collections map[string]map[string]entity
	calls       []string
	leaks       bool // ignores filters
	fails       error
	status      int
	code        int
}

type entity struct {
	ID       string               `json:"id"`
	Values   []float32            `json:"values"`
	Metadata vectorstore.Metadata `json:"metadata"`
}

func newServer(t *testing.T) *server {
	return &server{t: t, collections: map[string]map[string]entity{}, status: 200}
}

type body struct {
	CollectionName string          `json:"collectionName"`
	Schema         json.RawMessage `json:"schema"`
	IndexParams    json.RawMessage `json:"indexParams"`
	Data           json.RawMessage `json:"data"`
	AnnsField      string          `json:"annsField"`
	Limit          int             `json:"limit"`
	OutputFields   []string        `json:"outputFields"`
	Filter         string          `json:"filter"`
	SearchParams   json.RawMessage `json:"searchParams"`
}

func (s *server) Do(_ context.Context, r *vectorstore.Request) (*vectorstore.Response, error) {
	path, ok := strings.CutPrefix(r.URL, "http://milvus.test:19530/v2/vectordb/")
	if !ok || r.Method != "POST" {
		s.t.Errorf("unexpected request %s %s", r.Method, r.URL)
	}
	if !hasHeader(r.Header, "Authorization", "Bearer root:secret") {
		s.t.Errorf("%s: no credential in %d headers", path, len(r.Header))
	}
	s.calls = append(s.calls, path)
	if s.fails != nil {
		return nil, s.fails
	}
	if s.code != 0 {
		return respond(s.status, s.code, "a message with a text of somebody", nil)
	}
	var b body
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		s.t.Errorf("%s: %v", path, err)
	}
	if path == "collections/create" {
		return s.create(&b)
	}
	rows, ok := s.collections[b.CollectionName]
	if !ok {
		return respond(s.status, 100, "can't find collection[database=default][collection="+b.CollectionName+"]", nil)
	}
	switch path {
	case "entities/upsert":
		return s.upsert(rows, &b)
	case "entities/search":
		return s.search(rows, &b)
	case "entities/delete":
		return s.remove(rows, &b)
	}
	s.t.Errorf("unexpected path %s", path)
	return respond(404, 0, "", nil)
}

func hasHeader(header [][2]string, name, value string) bool {
	for _, h := range header {
		if h == [2]string{name, value} {
			return true
		}
	}
	return false
}

func respond(status, code int, message string, data any) (*vectorstore.Response, error) {
	raw, err := json.Marshal(map[string]any{"code": code, "message": message, "data": data})
	return &vectorstore.Response{Status: status, Body: raw}, err
}

func (s *server) create(b *body) (*vectorstore.Response, error) {
	for _, part := range []string{`"id"`, `"VarChar"`, `"values"`, `"FloatVector"`, `"dim":"8"`, `"metadata"`, `"JSON"`} {
		if !strings.Contains(string(b.Schema), part) {
			s.t.Errorf("the schema lacks %s: %s", part, b.Schema)
		}
	}
	if !strings.Contains(string(b.IndexParams), `"COSINE"`) {
		s.t.Errorf("the index has another metric: %s", b.IndexParams)
	}
	if s.collections[b.CollectionName] == nil {
		s.collections[b.CollectionName] = map[string]entity{}
	}
	return respond(200, 0, "", struct{}{})
}

func (s *server) upsert(rows map[string]entity, b *body) (*vectorstore.Response, error) {
	var entities []entity
	if err := json.Unmarshal(b.Data, &entities); err != nil {
		s.t.Error(err)
	}
	for _, e := range entities {
		if len(e.Values) != 8 {
			return respond(200, 1100, "vector dimension mismatch", nil)
		}
		rows[e.ID] = e
	}
	return respond(200, 0, "", map[string]any{"upsertCount": len(entities)})
}

var searchFilter = regexp.MustCompile(`^metadata\["partition"\] == "([0-9a-f]{64})" and metadata\["expires"\] > (\d+)$`)

func (s *server) search(rows map[string]entity, b *body) (*vectorstore.Response, error) {
	parts := searchFilter.FindStringSubmatch(b.Filter)
	if parts == nil || b.AnnsField != "values" || b.Limit < 1 {
		s.t.Fatalf("a search without a filter for its partition: %q, %q, %d", b.Filter, b.AnnsField, b.Limit)
	}
	expires, _ := strconv.ParseFloat(parts[2], 64)
	var queries [][]float32
	if err := json.Unmarshal(b.Data, &queries); err != nil {
		s.t.Error(err)
	}
	out := []map[string]any{}
	for id, e := range rows {
		if s.leaks || e.Metadata.Partition == parts[1] && e.Metadata.Expires > expires {
			metadata, _ := json.Marshal(e.Metadata)
			out = append(out, map[string]any{"id": id, "distance": cosine(queries[0], e.Values), "metadata": string(metadata)})
		}
	}
	sortByDistance(out)
	return respond(200, 0, "", out[:min(len(out), b.Limit)])
}

func sortByDistance(rows []map[string]any) {
	for i := range rows {
		for j := i; j > 0 && rows[j]["distance"].(float64) > rows[j-1]["distance"].(float64); j-- {
			rows[j], rows[j-1] = rows[j-1], rows[j]
		}
	}
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

func (s *server) remove(rows map[string]entity, b *body) (*vectorstore.Response, error) {
	for id := range rows {
		if b.Filter == `id != ""` || strings.HasPrefix(b.Filter, "id in [") && strings.Contains(b.Filter, strconv.Quote(id)) {
			delete(rows, id)
		}
	}
	return respond(200, 0, "", struct{}{})
}

func open(t *testing.T, s *server, clock *vectorstoretest.Clock, sealer vectorstore.Sealer) *milvus.Store {
	t.Helper()
	store, err := milvus.New(s, clock, milvus.Options{
		Address: "http://milvus.test:19530/", Token: sealed.New("root:secret"), Collection: "responses", Sealer: sealer,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStore_IsAVectorStore(t *testing.T) {
	t.Parallel()
	vectorstoretest.Run(t, func(t *testing.T, clock *vectorstoretest.Clock) vectorstore.Store {
		return open(t, newServer(t), clock, nil)
	})
}

func TestStore_IsAVectorStoreWithSealedTexts(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	vectorstoretest.Run(t, func(t *testing.T, clock *vectorstoretest.Clock) vectorstore.Store {
		return open(t, newServer(t), clock, box)
	})
}

func entry(text string) vectorstore.Entry {
	return vectorstore.Entry{
		Key: vectorstoretest.Key(1), Partition: vectorstoretest.Partition(1), Vector: vectorstoretest.Vector(1),
		Text: text, Expires: vectorstoretest.Start.Add(time.Hour),
	}
}

func find(t *testing.T, s vectorstore.Store, partition byte) []vectorstore.Match {
	t.Helper()
	found, err := s.Search(t.Context(), vectorstore.Search{
		Partition: vectorstoretest.Partition(partition), Vector: vectorstoretest.Vector(1), Threshold: 0.5, Limit: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPut_CreatesADroppedCollectionAgain(t *testing.T) {
	t.Parallel()
	server, clock := newServer(t), &vectorstoretest.Clock{Time: vectorstoretest.Start}
	store := open(t, server, clock, nil)
	for range 2 {
		if err := store.Put(t.Context(), entry("a")); err != nil {
			t.Fatal(err)
		}
		if len(find(t, store, 1)) != 1 {
			t.Error("the entry is missing")
		}
		delete(server.collections, "responses")
		if len(find(t, store, 1)) != 0 {
			t.Error("a missing collection contains an entry")
		}
	}
}

func TestSearch_DoesNotTrustTheServersFilter(t *testing.T) {
	t.Parallel()
	server, clock := newServer(t), &vectorstoretest.Clock{Time: vectorstoretest.Start}
	server.leaks = true
	store := open(t, server, clock, nil)
	if err := store.Put(t.Context(), entry("a")); err != nil {
		t.Fatal(err)
	}
	if found := find(t, store, 2); len(found) != 0 {
		t.Errorf("partition 2 found %+v of partition 1", found)
	}
	clock.Time = clock.Time.Add(2 * time.Hour)
	if found := find(t, store, 1); len(found) != 0 {
		t.Errorf("an expired entry was found: %+v", found)
	}
}

func TestPut_ShowsNoTextToTheServerWithASealer(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	server, clock := newServer(t), &vectorstoretest.Clock{Time: vectorstoretest.Start}
	store := open(t, server, clock, box)
	if err := store.Put(t.Context(), entry("my secret question")); err != nil {
		t.Fatal(err)
	}
	for id, e := range server.collections["responses"] {
		if len(id) != 64 || e.Metadata.Text != "" || strings.Contains(fmt.Sprint(e), "secret") {
			t.Errorf("the server stores %+v", e)
		}
		// Another entry with this sealed text is unreadable.
		e.ID = vectorstoretest.Key(2).String()
		server.collections["responses"] = map[string]entity{e.ID: e}
	}
	if found := find(t, store, 1); len(found) != 0 {
		t.Errorf("a text of another entry was opened: %+v", found)
	}
}

func TestStore_ReturnsErrorsWithoutMessagesOfTheServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, code int
		fails, want  error
	}{
		"an error code":     {200, 1800, nil, vectorstore.ErrStatus},
		"an HTTP status":    {500, 1, nil, vectorstore.ErrStatus},
		"a lost connection": {200, 0, context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		server := newServer(t)
		server.status, server.code, server.fails = c.status, c.code, c.fails
		store := open(t, server, &vectorstoretest.Clock{}, nil)
		_, err := store.Search(t.Context(), vectorstore.Search{Vector: vectorstoretest.Vector(1)})
		for _, err := range []error{err, store.Put(t.Context(), entry("a")), store.Delete(t.Context(), vectorstoretest.Key(1)), store.Purge(t.Context())} {
			if !errors.Is(err, c.want) || strings.Contains(err.Error(), "somebody") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
	}
}

func TestNew_NamesTheWrongSetting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, collection, want string }{
		{"milvus:19530", "a", "VECTOR_STORE_ADDRESS"},
		{"", "a", "VECTOR_STORE_ADDRESS"},
		{"http://m", "", "VECTOR_STORE_COLLECTION_NAME"},
		{"http://m", "1a", "VECTOR_STORE_COLLECTION_NAME"},
		{"http://m", `a" or "`, "VECTOR_STORE_COLLECTION_NAME"},
	} {
		_, err := milvus.New(nil, nil, milvus.Options{Address: c.address, Collection: c.collection})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: got %v, want an error about %s", c.address, c.collection, err, c.want)
		}
	}
}

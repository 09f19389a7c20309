// Package milvus is a vector store in a Milvus server, over its RESTful API version 2. It creates its
// collection when it is missing, also when that was dropped while the process runs. Begin at Store.
//
// Sources, read on 2026-11-28:
// https://milvus.io/api-reference/restful/v2.5.x/v2/Collection%20(v2)/Create.md,
// https://milvus.io/api-reference/restful/v2.4.x/v2/Vector%20(v2)/Upsert.md, …/Search.md, …/Delete.md.
package milvus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Options describe the server.
type Options struct {
	Address    string        // VECTOR_STORE_ADDRESS: "https://milvus.example.com:19530"
	Token      sealed.String // VECTOR_STORE_API_KEY: an API key, or "user:password"; empty for a server without authentication
	Collection string        // VECTOR_STORE_COLLECTION_NAME: letters, digits and _, not a digit first
	Sealer     vectorstore.Sealer
}

// Store is a vectorstore.Store in a Milvus collection. Its vectors have one length, that of the first
// entry; entries of another length fail. Wrap it in vectorstore.Limit. Create one with New.
type Store struct {
	client     vectorstore.HTTP
	clock      ident.Clock
	records    vectorstore.Records
	address    string
	collection string
	token      sealed.String
}

var _ vectorstore.Store = (*Store)(nil)

var collectionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

// New returns a store. It makes no call.
func New(client vectorstore.HTTP, clock ident.Clock, o Options) (*Store, error) {
	address := strings.TrimRight(o.Address, "/")
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return nil, errors.New("VECTOR_STORE_ADDRESS must be the URL of the Milvus server, such as https://milvus.example.com:19530")
	}
	if !collectionName.MatchString(o.Collection) {
		return nil, errors.New("VECTOR_STORE_COLLECTION_NAME must have 1 to 255 letters, digits and underscores, and must not begin with a digit")
	}
	return &Store{
		client: client, clock: clock, records: vectorstore.Records{Sealer: o.Sealer},
		address: address, collection: o.Collection, token: o.Token,
	}, nil
}

// errMissing is the error of a call to a collection that does not exist.
var errMissing = errors.New("the Milvus collection does not exist")

// codeMissing is Milvus' error code for a missing collection. Source:
// https://github.com/milvus-io/milvus/blob/master/pkg/util/merr/errors.go, ErrCollectionNotFound.
const codeMissing = 100

// envelope is the form of all responses. Code is 0 for success, and 200 in Milvus 2.3.
type envelope struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// call sends a request to a path below /v2/vectordb/ and returns the data of the response.
func (s *Store) call(ctx context.Context, path string, body map[string]any) (json.RawMessage, error) {
	var header [][2]string
	if token := s.token.Reveal(); token != "" {
		header = [][2]string{{"Authorization", "Bearer " + token}}
	}
	body["collectionName"] = s.collection
	var out envelope
	if _, err := vectorstore.Post(ctx, s.client, s.address+"/v2/vectordb/"+path, header, body, &out); err != nil {
		return nil, err
	}
	switch {
	case out.Code == 0, out.Code == 200:
		return out.Data, nil
	case out.Code == codeMissing, strings.Contains(out.Message, "can't find collection"):
		return nil, errMissing
	}
	return nil, vectorstore.StatusError(out.Code)
}

// Put implements vectorstore.Store.
func (s *Store) Put(ctx context.Context, e vectorstore.Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	err := s.upsert(ctx, &e)
	if !errors.Is(err, errMissing) {
		return err
	}
	if err := s.create(ctx, len(e.Vector)); err != nil {
		return fmt.Errorf("create Milvus collection: %w", err)
	}
	return s.upsert(ctx, &e)
}

func (s *Store) upsert(ctx context.Context, e *vectorstore.Entry) error {
	metadata, err := s.records.Encode(e)
	if err != nil {
		return err
	}
	row := map[string]any{"id": e.Key.String(), "values": e.Vector, "metadata": metadata}
	_, err = s.call(ctx, "entities/upsert", map[string]any{"data": []any{row}})
	return err
}

// create creates the collection. Milvus treats an existing collection as success.
func (s *Store) create(ctx context.Context, dimensions int) error {
	_, err := s.call(ctx, "collections/create", map[string]any{
		"schema": map[string]any{
			"autoId":             false,
			"enableDynamicField": false,
			"fields": []any{
				map[string]any{"fieldName": "id", "dataType": "VarChar", "isPrimary": true, "elementTypeParams": map[string]any{"max_length": "64"}},
				map[string]any{"fieldName": "values", "dataType": "FloatVector", "elementTypeParams": map[string]any{"dim": strconv.Itoa(dimensions)}},
				map[string]any{"fieldName": "metadata", "dataType": "JSON"},
			},
		},
		"indexParams": []any{
			map[string]any{"fieldName": "values", "indexName": "values", "metricType": "COSINE", "indexType": "AUTOINDEX"},
		},
	})
	return err
}

// row is an entity that a search returns. Milvus returns metadata as a string with JSON in it.
type row struct {
	ID       string          `json:"id"`
	Distance float32         `json:"distance"` // the cosine
	Metadata json.RawMessage `json:"metadata"`
}

// Search implements vectorstore.Store. A missing collection is empty.
func (s *Store) Search(ctx context.Context, search vectorstore.Search) ([]vectorstore.Match, error) {
	if !vectorstore.IsUsable(search.Vector) {
		return nil, nil
	}
	now := s.clock.Now()
	data, err := s.call(ctx, "entities/search", map[string]any{
		"data":         []any{search.Vector},
		"annsField":    "values",
		"limit":        search.MaxCount(),
		"outputFields": []string{"id", "metadata"},
		"filter":       fmt.Sprintf(`metadata["partition"] == "%s" and metadata["expires"] > %d`, search.Partition, now.Unix()),
		"searchParams": map[string]any{"metricType": "COSINE"},
	})
	if errors.Is(err, errMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, vectorstore.ErrResponse
	}
	var found []vectorstore.Match
	for _, r := range rows {
		metadata, ok := decodeMetadata(r.Metadata)
		if !ok {
			continue
		}
		if match, ok := s.records.Match(r.ID, &metadata, r.Distance, &search, now); ok {
			found = append(found, match)
		}
	}
	return vectorstore.Best(found, &search), nil
}

// decodeMetadata reads an object, or a string that contains one.
func decodeMetadata(raw json.RawMessage) (m vectorstore.Metadata, ok bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	return m, json.Unmarshal(raw, &m) == nil
}

// Delete implements vectorstore.Store.
func (s *Store) Delete(ctx context.Context, keys ...vectorstore.Key) error {
	if len(keys) == 0 {
		return nil
	}
	ids := make([]string, 0, len(keys))
	for _, key := range keys {
		ids = append(ids, strconv.Quote(key.String()))
	}
	return s.remove(ctx, "id in ["+strings.Join(ids, ",")+"]")
}

// Purge implements vectorstore.Store. It deletes the entries and not the collection, which other
// programs may have configured.
func (s *Store) Purge(ctx context.Context) error { return s.remove(ctx, `id != ""`) }

func (s *Store) remove(ctx context.Context, filter string) error {
	_, err := s.call(ctx, "entities/delete", map[string]any{"filter": filter})
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

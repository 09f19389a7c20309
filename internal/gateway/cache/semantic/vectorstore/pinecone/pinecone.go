// Package pinecone is a vector store in a Pinecone index, over the data plane API. The index must
// exist, with the metric cosine and the dimensions of the embedding model. Begin at Store.
//
// Sources, read on 2026-11-28:
// https://github.com/pinecone-io/pinecone-api/blob/main/2025-01/db_data_2025-01.oas.yaml (query,
// upsert, delete), https://docs.pinecone.io/guides/manage-data/target-an-index (host of an index).
package pinecone

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

const (
	controlPlane = "https://api.pinecone.io"
	apiVersion   = "2025-01"

	// hostSuffix ends the hosts of all indexes. The API key is sent to no other host.
	hostSuffix = ".pinecone.io"

	defaultNamespace = "sluice-semantic-cache"

	// maxDelete is how many ids one request may delete. Source: DeleteRequest in the API description.
	maxDelete = 1000
)

// Options describe the index.
type Options struct {
	Index     string        // VECTOR_STORE_ADDRESS: name of the index, "responses"
	APIKey    sealed.String // VECTOR_STORE_API_KEY
	Namespace string        // VECTOR_STORE_COLLECTION_NAME: empty for "sluice-semantic-cache"
	Sealer    vectorstore.Sealer
}

// Store is a vectorstore.Store in a namespace of a Pinecone index. Wrap it in vectorstore.Limit.
// Create one with New.
type Store struct {
	client    vectorstore.HTTP
	clock     ident.Clock
	records   vectorstore.Records
	index     string
	namespace string
	apiKey    sealed.String

	mu   sync.Mutex // guards host
	host string     // of the index; empty until it is found, and after a failure
}

var _ vectorstore.Store = (*Store)(nil)

var (
	indexName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?$`)
	hostName  = regexp.MustCompile(`^[a-z0-9.-]{1,253}$`)
)

// New returns a store. It makes no call.
func New(client vectorstore.HTTP, clock ident.Clock, o Options) (*Store, error) {
	if !indexName.MatchString(o.Index) {
		return nil, errors.New("VECTOR_STORE_ADDRESS must be the name of a Pinecone index: 1 to 45 lower-case letters, digits and hyphens")
	}
	if o.APIKey.Reveal() == "" {
		return nil, errors.New("VECTOR_STORE_API_KEY is required for Pinecone")
	}
	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}
	return &Store{
		client: client, clock: clock, records: vectorstore.Records{Sealer: o.Sealer},
		index: o.Index, namespace: o.Namespace, apiKey: o.APIKey,
	}, nil
}

func (s *Store) header() [][2]string {
	return [][2]string{{"Api-Key", s.apiKey.Reveal()}, {"X-Pinecone-Api-Version", apiVersion}}
}

// call sends a request to the index. After a failure it looks the host up again, because an index
// that was deleted and created again has another one.
func (s *Store) call(ctx context.Context, path string, body map[string]any, out any) (status int, err error) {
	host, err := s.findHost(ctx)
	if err != nil {
		return 0, err
	}
	body["namespace"] = s.namespace
	status, err = vectorstore.Post(ctx, s.client, "https://"+host+path, s.header(), body, out)
	if err != nil {
		s.setHost("")
	}
	return status, err
}

func (s *Store) findHost(ctx context.Context) (string, error) {
	s.mu.Lock()
	host := s.host
	s.mu.Unlock()
	if host != "" {
		return host, nil
	}
	var found struct {
		Host string `json:"host"`
	}
	if err := vectorstore.Get(ctx, s.client, controlPlane+"/indexes/"+s.index, s.header(), &found); err != nil {
		return "", fmt.Errorf("find Pinecone index: %w", err)
	}
	if !hostName.MatchString(found.Host) || !strings.HasSuffix(found.Host, hostSuffix) {
		return "", fmt.Errorf("find Pinecone index: %w", vectorstore.ErrResponse)
	}
	s.setHost(found.Host)
	return found.Host, nil
}

func (s *Store) setHost(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host = host
}

// Put implements vectorstore.Store.
func (s *Store) Put(ctx context.Context, e vectorstore.Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	metadata, err := s.records.Encode(&e)
	if err != nil {
		return err
	}
	vector := map[string]any{"id": e.Key.String(), "values": e.Vector, "metadata": metadata}
	_, err = s.call(ctx, "/vectors/upsert", map[string]any{"vectors": []any{vector}}, nil)
	return err
}

// queryResponse is the response of /query.
type queryResponse struct {
	Matches []struct {
		ID       string               `json:"id"`
		Score    float32              `json:"score"` // the cosine
		Metadata vectorstore.Metadata `json:"metadata"`
	} `json:"matches"`
}

// Search implements vectorstore.Store.
func (s *Store) Search(ctx context.Context, search vectorstore.Search) ([]vectorstore.Match, error) {
	if !vectorstore.IsUsable(search.Vector) {
		return nil, nil
	}
	now := s.clock.Now()
	var out queryResponse
	_, err := s.call(ctx, "/query", map[string]any{
		"vector":          search.Vector,
		"topK":            search.MaxCount(),
		"includeMetadata": true,
		"filter": map[string]any{
			"partition": map[string]any{"$eq": search.Partition.String()},
			"expires":   map[string]any{"$gt": now.Unix()},
		},
	}, &out)
	if err != nil {
		return nil, err
	}
	var found []vectorstore.Match
	for _, m := range out.Matches {
		if match, ok := s.records.Match(m.ID, &m.Metadata, m.Score, &search, now); ok {
			found = append(found, match)
		}
	}
	return vectorstore.Best(found, &search), nil
}

// Delete implements vectorstore.Store.
func (s *Store) Delete(ctx context.Context, keys ...vectorstore.Key) error {
	for len(keys) > 0 {
		n := min(len(keys), maxDelete)
		ids := make([]string, 0, n)
		for _, key := range keys[:n] {
			ids = append(ids, key.String())
		}
		if err := s.remove(ctx, map[string]any{"ids": ids}); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Purge implements vectorstore.Store. It deletes the namespace's entries only.
func (s *Store) Purge(ctx context.Context) error {
	return s.remove(ctx, map[string]any{"deleteAll": true})
}

// remove deletes entries. Pinecone returns 404 for a namespace without entries.
func (s *Store) remove(ctx context.Context, body map[string]any) error {
	const notFound = 404
	status, err := s.call(ctx, "/vectors/delete", body, nil)
	if status == notFound {
		return nil
	}
	return err
}

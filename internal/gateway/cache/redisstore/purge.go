package redisstore

import (
	"context"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/redisconn"
)

const (
	scanCount    = 1000            // keys that the server visits in one step
	purgeTimeout = 5 * time.Second // of one step
)

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key cachekey.Key, f *entry.Filter) (bool, error) {
	removed, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, c rueidis.Client) ([]cachekey.Key, error) {
		return remove(ctx, c, []string{name(key)}, f.Matcher())
	})
	return len(removed) > 0, err
}

// Purge implements store.Store. It visits every key of every server in small steps, between which
// the server does other work. ctx bounds the complete purge.
func (s *Store) Purge(ctx context.Context, f *entry.Filter) (keys []cachekey.Key, err error) {
	nodes, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(_ context.Context, c rueidis.Client) (map[string]rueidis.Client, error) {
		return c.Nodes(), nil
	})
	for _, node := range nodes {
		if err != nil {
			break
		}
		var removed []cachekey.Key
		removed, err = s.purgeNode(ctx, node, f.Matcher())
		keys = append(keys, removed...)
	}
	return keys, err
}

// IsMissing implements store.Store.
func (s *Store) IsMissing(ctx context.Context, key cachekey.Key) bool {
	missing, err := redisconn.Run(ctx, s.conn, s.o.WriteTimeout, func(ctx context.Context, c rueidis.Client) (bool, error) {
		n, err := c.Do(ctx, c.B().Exists().Key(name(key)).Build()).AsInt64()
		return n == 0, err
	})
	return missing && err == nil
}

// purgeNode removes what m selects among the keys of one server. A replica has the same keys as its
// primary; what was removed there does not count again.
func (s *Store) purgeNode(ctx context.Context, node rueidis.Client, m *entry.Matcher) (keys []cachekey.Key, err error) {
	for cursor := uint64(0); ; {
		page, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, _ rueidis.Client) (rueidis.ScanEntry, error) {
			return node.Do(ctx, node.B().Scan().Cursor(cursor).Match(prefix+"*").Count(scanCount).Build()).AsScanEntry()
		})
		if err != nil {
			return keys, err
		}
		removed, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, c rueidis.Client) ([]cachekey.Key, error) {
			return remove(ctx, c, page.Elements, m)
		})
		keys = append(keys, removed...)
		if cursor = page.Cursor; err != nil || cursor == 0 {
			return keys, err
		}
	}
}

// remove removes those of the named keys that m selects, and returns them. Values without a head remain
// until they expire.
func remove(ctx context.Context, c rueidis.Client, names []string, m *entry.Matcher) (keys []cachekey.Key, err error) {
	heads := make(rueidis.Commands, 0, len(names))
	for _, k := range names {
		heads = append(heads, c.B().Getrange().Key(k).Start(0).End(entry.HeadBytes-1).Build())
	}
	var unlinks rueidis.Commands
	var selected []cachekey.Key
	for i, r := range c.DoMulti(ctx, heads...) {
		data, err := r.AsBytes()
		if err != nil {
			return nil, err
		}
		key, ok := cachekey.Parse(strings.TrimPrefix(names[i], prefix))
		if head, err := entry.ReadHead(data); ok && err == nil && m.Matches(&head.Digests, head.Created) {
			unlinks, selected = append(unlinks, c.B().Unlink().Key(names[i]).Build()), append(selected, key)
		}
	}
	for i, r := range c.DoMulti(ctx, unlinks...) {
		n, err := r.AsInt64()
		if err != nil {
			return keys, err
		}
		if n > 0 {
			keys = append(keys, selected[i])
		}
	}
	return keys, nil
}

package redisstore

import (
	"context"
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
	n, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, c rueidis.Client) (int, error) {
		return remove(ctx, c, []string{name(key)}, f.Matcher())
	})
	return n > 0, err
}

// Purge implements store.Store. It visits every key of every server in small steps, between which
// the server does other work. ctx bounds the complete purge.
func (s *Store) Purge(ctx context.Context, f *entry.Filter) (int, error) {
	nodes, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(_ context.Context, c rueidis.Client) (map[string]rueidis.Client, error) {
		return c.Nodes(), nil
	})
	total := 0
	for _, node := range nodes {
		if err != nil {
			break
		}
		var n int
		n, err = s.purgeNode(ctx, node, f.Matcher())
		total += n
	}
	return total, err
}

// purgeNode removes what m selects among the keys of one server. A replica has the same keys as its
// primary; what was removed there does not count again.
func (s *Store) purgeNode(ctx context.Context, node rueidis.Client, m *entry.Matcher) (total int, err error) {
	for cursor := uint64(0); ; {
		page, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, _ rueidis.Client) (rueidis.ScanEntry, error) {
			return node.Do(ctx, node.B().Scan().Cursor(cursor).Match(prefix+"*").Count(scanCount).Build()).AsScanEntry()
		})
		if err != nil {
			return total, err
		}
		n, err := redisconn.Run(ctx, s.conn, purgeTimeout, func(ctx context.Context, c rueidis.Client) (int, error) {
			return remove(ctx, c, page.Elements, m)
		})
		total += n
		if cursor = page.Cursor; err != nil || cursor == 0 {
			return total, err
		}
	}
}

// remove removes those of the keys that m selects, and returns their number. Values without a head
// remain until they expire.
func remove(ctx context.Context, c rueidis.Client, keys []string, m *entry.Matcher) (count int, err error) {
	heads := make(rueidis.Commands, 0, len(keys))
	for _, k := range keys {
		heads = append(heads, c.B().Getrange().Key(k).Start(0).End(entry.HeadBytes-1).Build())
	}
	var unlinks rueidis.Commands
	for i, r := range c.DoMulti(ctx, heads...) {
		data, err := r.AsBytes()
		if err != nil {
			return 0, err
		}
		if head, err := entry.ReadHead(data); err == nil && m.Matches(&head.Digests, head.Created) {
			unlinks = append(unlinks, c.B().Unlink().Key(keys[i]).Build())
		}
	}
	for _, r := range c.DoMulti(ctx, unlinks...) {
		n, err := r.AsInt64()
		if err != nil {
			return count, err
		}
		count += int(n)
	}
	return count, nil
}

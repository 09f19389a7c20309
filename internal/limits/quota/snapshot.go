package quota

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"sluice/internal/kernel/varint"
)

// errSnapshot is wrapped by every error of Restore.
var errSnapshot = errors.New("malformed snapshot of rates")

// The format of a snapshot:
//
//	version   1 byte
//	counters  for each counter: four lengths (organisation, subject, entry, value key), the
//	          index of its unit in units, the beginning of its window in nanoseconds and its
//	          usage, then the four strings
//	check     8 bytes: the sum of the checksums of the counters, in any order, times their
//	          number and one
const (
	snapshotVersion = 1
	snapshotCheck   = 8
)

// Snapshot appends the state of the rates in the windows of now to dst, so that Restore can
// continue from there. It does not include what calls in progress hold. Two snapshots of the
// same state have the same last eight bytes. Each counter is locked while it is read.
func (b *Limiter) Snapshot(now time.Time, dst []byte) []byte {
	dst = append(dst, snapshotVersion)
	var checksum, n uint64
	b.Parts(now, func(p NodeShare) {
		if p.Unit == "" {
			return
		}
		begin := len(dst)
		dst = p.append(dst)
		checksum, n = checksum+uint64(crc32.ChecksumIEEE(dst[begin:])), n+1
	})
	return binary.LittleEndian.AppendUint64(dst, checksum*(n+1)+n)
}

func (p *NodeShare) append(dst []byte) []byte {
	texts := [...]string{p.Org, p.Counter.Subject, p.Counter.Entry, p.Counter.ValueKey}
	for _, t := range texts {
		dst = varint.Append(dst, uint64(len(t)))
	}
	dst = varint.Append(dst, uint64(slices.Index(units, p.Unit)))
	dst = varint.Append(dst, uint64(p.Window.UnixNano()))
	dst = varint.Append(dst, uint64(p.Used))
	for _, t := range texts {
		dst = append(dst, t...)
	}
	return dst
}

// Restore loads a snapshot of an earlier process, before anything is taken from the limiter,
// and returns the number of counters restored. Windows that are over are skipped. A clock
// change meanwhile has the same effect as on a running limiter. An error means that the
// snapshot is malformed; nothing is then restored.
func (b *Limiter) Restore(now time.Time, snapshot []byte) (counters int, err error) {
	parts, err := readSnapshot(snapshot)
	if err != nil {
		return 0, err
	}
	nowNano := now.UnixNano()
	for i := range parts {
		p := &parts[i]
		w := window{unit: p.Unit, since: p.Window.UnixNano(), turn: 1, used: p.Used}
		if nowNano >= w.end() {
			continue
		}
		c := b.counter(p.Counter, p.Org, p.Unit, nowNano)
		c.mu.Lock()
		c.window = w
		c.mu.Unlock()
		counters++
	}
	return counters, nil
}

func readSnapshot(src []byte) ([]NodeShare, error) {
	if len(src) < 1+snapshotCheck || src[0] != snapshotVersion {
		return nil, fmt.Errorf("%d bytes: %w", len(src), errSnapshot)
	}
	body, check := src[1:len(src)-snapshotCheck], src[len(src)-snapshotCheck:]
	d := varint.Decoder{Rest: body, Malformed: errSnapshot}
	var out []NodeShare
	var checksum uint64
	for len(d.Rest) > 0 {
		begin := len(body) - len(d.Rest)
		p := readPart(&d)
		if d.Err != nil {
			return nil, d.Err
		}
		checksum += uint64(crc32.ChecksumIEEE(body[begin : len(body)-len(d.Rest)]))
		out = append(out, p)
	}
	if n := uint64(len(out)); checksum*(n+1)+n != binary.LittleEndian.Uint64(check) {
		return nil, fmt.Errorf("%d counters: %w", n, errSnapshot)
	}
	return out, nil
}

func readPart(d *varint.Decoder) (p NodeShare) {
	var lens [4]uint64
	for i := range lens {
		lens[i] = d.Uvarint()
	}
	unit := d.Uvarint()
	p.Window, p.Used = time.Unix(0, int64(d.Uvarint())).UTC(), int64(d.Uvarint())
	for i, t := range [...]*string{&p.Org, &p.Counter.Subject, &p.Counter.Entry, &p.Counter.ValueKey} {
		*t = string(d.Bytes(lens[i]))
	}
	if unit >= uint64(len(units)) || p.Used < 0 {
		d.Fail("counter")
		return p
	}
	p.Unit = units[unit]
	return p
}

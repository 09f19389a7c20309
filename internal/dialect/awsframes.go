package dialect

import (
	"encoding/binary"
	"hash/crc32"

	"sluice/internal/kernel/fault"
)

// The sections of an AWS event-stream message and their maximum sizes:
//
//	total length u32 · length of headers u32 · CRC-32 of these · headers · payload · CRC-32 of all
//
// The sizes are those of Amazon's own clients.
// Source: contract/provider-transforms.md 3.7;
// https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, read 2026-11.
const (
	framePrelude         = 12
	frameTail            = 4
	maxFrameHeaderBytes  = 128 << 10
	maxFramePayloadBytes = 16 << 20
)

// Frame is one message of an AWS event stream. Its slices are valid only during the call
// that receives it.
type Frame struct {
	Type    []byte // :message-type: "event", "exception" or "error"
	Name    []byte // :event-type, :exception-type or :error-code: "contentBlockDelta", "throttlingException"
	Message []byte // :error-message
	Payload []byte
}

// FrameReader splits an AWS event stream into its messages. The zero value is ready; it
// belongs to one goroutine. It buffers at most one message, 16 MiB and its headers.
type FrameReader struct {
	partial []byte // the incomplete message
	frame   Frame  // passed to each
}

// Feed calls each for every complete message. A wrong length or checksum is
// fault.UpstreamInvalid, as soon as the first bytes of the message have arrived.
func (r *FrameReader) Feed(p []byte, each func(*Frame) error) error {
	buf := p
	if len(r.partial) > 0 {
		r.partial = append(r.partial, p...)
		buf = r.partial
	}
	for {
		n, err := frameLength(buf)
		if err != nil {
			return err
		}
		if n == 0 || len(buf) < n {
			break
		}
		if err := r.read(buf[:n]); err != nil {
			return err
		}
		if err := each(&r.frame); err != nil {
			return err
		}
		buf = buf[n:]
	}
	r.partial = copyPartial(r.partial, buf)
	return nil
}

// Close ends the stream. Bytes of an incomplete message are fault.UpstreamInvalid.
func (r *FrameReader) Close() error {
	left := len(r.partial)
	r.partial = nil
	if left > 0 {
		return badFrame("the stream ends inside a message")
	}
	return nil
}

// frameLength is the length of the message at the start of b, or 0 if its prelude is
// incomplete.
func frameLength(b []byte) (int, error) {
	if len(b) < framePrelude {
		return 0, nil
	}
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return 0, badFrame("invalid checksum of message lengths")
	}
	total, headers := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	payload := total - headers - framePrelude - frameTail
	if headers > maxFrameHeaderBytes || payload < 0 || payload > maxFramePayloadBytes {
		return 0, badFrame("message lengths are out of range")
	}
	return int(total), nil
}

// read parses a complete message.
func (r *FrameReader) read(b []byte) error {
	end := len(b) - frameTail
	if crc32.ChecksumIEEE(b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return badFrame("invalid message checksum")
	}
	split := framePrelude + int(binary.BigEndian.Uint32(b[4:]))
	r.frame = Frame{Payload: b[split:end]}
	if !r.frame.headers(b[framePrelude:split]) {
		return badFrame("invalid message headers")
	}
	return nil
}

// headers parses the headers: length of the name u8 · name · type u8 · value.
func (f *Frame) headers(b []byte) bool {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 2+n {
			return false
		}
		name, kind := b[1:1+n], b[1+n]
		val, rest, ok := headerValue(kind, b[2+n:])
		if !ok {
			return false
		}
		switch string(name) {
		case ":message-type":
			f.Type = val
		case ":event-type", ":exception-type", ":error-code":
			f.Name = val
		case ":error-message":
			f.Message = val
		}
		b = rest
	}
	return true
}

// headerSizes are the lengths of values by type: true, false, byte, short, int, long, bytes
// and string (-1: their length precedes them), time, UUID.
var headerSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

func headerValue(kind byte, b []byte) (val, rest []byte, ok bool) {
	if int(kind) >= len(headerSizes) {
		return nil, nil, false
	}
	n := headerSizes[kind]
	if n < 0 {
		if len(b) < 2 {
			return nil, nil, false
		}
		n, b = int(binary.BigEndian.Uint16(b)), b[2:]
	}
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

func badFrame(reason string) error {
	return fault.New(fault.UpstreamInvalid, "cannot read the provider's event stream: "+reason)
}

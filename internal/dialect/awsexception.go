package dialect

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// AtBoundary reports whether the stream so far ends at the end of a message.
func (r *FrameReader) AtBoundary() bool { return len(r.partial) == 0 }

// AppendException appends a message of an AWS event stream that reports an error. Name is the type
// of the error, "InternalServerException". Payload is its JSON.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html, read 2026-11.
func AppendException(dst []byte, name string, payload []byte) []byte {
	if name != "" {
		name = strings.ToLower(name[:1]) + name[1:]
	}
	var headers []byte
	for _, h := range [...][2]string{{":exception-type", name}, {":content-type", "application/json"}, {":message-type", "exception"}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(h[1]))), h[1]...)
	}
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(framePrelude+len(headers)+len(payload)+frameTail))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(headers)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
	dst = append(append(dst, headers...), payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

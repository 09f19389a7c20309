package responder

import (
	"encoding/binary"
	"hash/crc32"
)

// What Bedrock's Converse and ConverseStream answer.
// Source: contract/provider-transforms.md 3.5 and 3.7;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
// read 2026-11.
const (
	converseStart = `{"output":{"message":{"role":"assistant","content":[{"text":"`
	converseEnd   = `"}]}},"stopReason":"end_turn","usage":{"inputTokens":120,"outputTokens":100,"totalTokens":220},"metrics":{"latencyMs":1}}`
)

func makeConverseStream() streamed {
	first := framed(frame("messageStart", `{"role":"assistant"}`))
	event := framed(frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"`+SentKeyword+zeros+` lorem "},"p":"abcdefghijklmnop"}`))
	last := framed(frame("contentBlockStop", `{"contentBlockIndex":0}`)) +
		framed(frame("messageStop", `{"stopReason":"end_turn"}`)) +
		framed(frame("metadata", `{"metrics":{"latencyMs":1},"usage":{"inputTokens":120,"outputTokens":100,"totalTokens":220}}`)) + "0\r\n\r\n"
	return streamOf("application/vnd.amazon.eventstream", streamed{checksum: true, first: []byte(first), event: []byte(event), last: []byte(last), usage: []byte(last)})
}

// stringHeader is the type of a header of an AWS message that is a string.
const stringHeader = 7

// frame is a message of an AWS event stream: length u32, length of headers u32,
// CRC-32 of these, headers, payload, CRC-32 of all.
func frame(event, payload string) string {
	var headers []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = binary.BigEndian.AppendUint16(append(headers, stringHeader), uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(append(b, headers...), payload...), 0, 0, 0, 0)
	writeChecksum(b)
	return string(b)
}

// writeChecksum writes the checksum at the end of a message.
func writeChecksum(message []byte) {
	end := len(message) - 4
	binary.BigEndian.PutUint32(message[end:], crc32.ChecksumIEEE(message[:end]))
}

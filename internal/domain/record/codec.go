package record

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/varint"
)

// codecVersion is the version of the stored form of an Attempt, which is:
//
//	version      1 byte
//	numbers      count byte, then that many unsigned varints
//	texts        count byte, then the length of each as a varint
//	metadata     count varint, then for each pair two lengths and their bytes
//	text bytes   of the texts, end to end
//	bytes        bodies of request and response, then the closing ledger entry, then the
//	             bodies as the client sent and received them and the headers of all four,
//	             then the request between the two; their lengths are among the numbers
//
// Lists only grow at their end. So an older program reads a newer record and skips the fields it
// does not support, and a newer program reads zeros. The version changes when the frame itself
// does.
const codecVersion = 1

// errMalformed is wrapped by the errors of Decode; the caller can only skip the record.
var errMalformed = errors.New("malformed record")

// Bits of the flags in the numbers.
const (
	flagStream = 1 << iota
	flagContinued
	flagReported
	flagRequestCut
	flagResponseCut
	flagClientRequestCut
	flagClientResponseCut
	flagNamed
	flagReshapedCut
	flagTranslated
)

type (
	numbers [53]uint64
	texts   [54]*string
)

// numbers writes the numeric fields to n in their stored order. New ones go last. It writes them
// in place: a returned value would be copied, and would occupy the stack of each caller a second
// time.
func (a *Attempt) numbers(n *numbers) {
	u, t := &a.Usage, &a.Timings
	n[0], n[1], n[2] = varint.Nanos(a.Started), uint64(a.Duration), uint64(a.FirstByte)
	n[3], n[4], n[5], n[6], n[7] = uint64(a.Number), uint64(a.Status), uint64(a.Upstream), uint64(a.Retries), a.flags()
	n[8], n[9], n[10], n[11] = uint64(u.InputTokens), uint64(u.OutputTokens), uint64(u.TotalTokens), uint64(u.CachedTokens)
	n[12], n[13], n[14] = uint64(u.CacheWriteTokens), uint64(u.ReasoningTokens), uint64(u.InputAudioTokens)
	n[15], n[16], n[17], n[18] = uint64(u.OutputAudioTokens), uint64(u.InputImageTokens), uint64(u.SearchUnits), floatBits(u.AudioSeconds)
	n[19], n[20], n[21], n[22] = uint64(a.BytesIn), uint64(a.BytesOut), uint64(a.Request.Size), uint64(a.Response.Size)
	n[23], n[24] = uint64(len(a.Request.Bytes)), uint64(len(a.Response.Bytes))
	n[25], n[26], n[27] = uint64(u.CitationTokens), uint64(u.CostNano), uint64(u.CacheHourTokens)
	n[28], n[29], n[30], n[31], n[32] = uint64(a.Spend.Cost), uint64(a.Spend.Saved), uint64(a.Spend.MaxCost), uint64(len(a.Closing)), uint64(u.OutputImageTokens)
	n[33] = uint64(u.Pages)
	n[34], n[35] = uint64(u.FileSearches), uint64(u.CodeSessions)
	n[36], n[37], n[38], n[39], n[40] = uint64(t.Parsing), uint64(t.Preparing), uint64(t.Cache), uint64(t.Queue), uint64(t.Connect)
	n[41] = uint64(t.Decoding)
	n[42], n[43], n[44], n[45] = uint64(a.ClientRequest.Size), uint64(a.ClientResponse.Size), uint64(len(a.ClientRequest.Bytes)), uint64(len(a.ClientResponse.Bytes))
	n[46], n[47], n[48], n[49] = uint64(len(a.Request.Head)), uint64(len(a.Response.Head)), uint64(len(a.ClientRequest.Head)), uint64(len(a.ClientResponse.Head))
	n[50], n[51], n[52] = uint64(len(a.Reshaped.Bytes)), uint64(len(a.Reshaped.Head)), uint64(a.Reshaped.Size)
}

// setNumbers is the inverse of numbers, except for the lengths of the bytes at the end.
func (a *Attempt) setNumbers(n *numbers) {
	a.Started, a.Duration, a.FirstByte = varint.Time(n[0]), time.Duration(n[1]), time.Duration(n[2])
	a.Number, a.Status, a.Upstream, a.Retries = int32(n[3]), int32(n[4]), int32(n[5]), int32(n[6])
	a.setFlags(n[7])
	a.Usage = llm.Usage{
		InputTokens: int64(n[8]), OutputTokens: int64(n[9]), TotalTokens: int64(n[10]), CachedTokens: int64(n[11]),
		CacheWriteTokens: int64(n[12]), ReasoningTokens: int64(n[13]), InputAudioTokens: int64(n[14]),
		OutputAudioTokens: int64(n[15]), InputImageTokens: int64(n[16]), SearchUnits: int64(n[17]),
		AudioSeconds: fromFloatBits(n[18]), CitationTokens: int64(n[25]), CostNano: int64(n[26]), CacheHourTokens: int64(n[27]),
		OutputImageTokens: int64(n[32]), Pages: int64(n[33]), FileSearches: int64(n[34]), CodeSessions: int64(n[35]), Reported: n[7]&flagReported != 0,
	}
	a.BytesIn, a.BytesOut = int64(n[19]), int64(n[20])
	a.Request.Size, a.Response.Size = int64(n[21]), int64(n[22])
	a.Spend.Cost, a.Spend.Saved, a.Spend.MaxCost = int64(n[28]), int64(n[29]), int64(n[30])
	a.Timings = Timings{
		Parsing: time.Duration(n[36]), Preparing: time.Duration(n[37]), Cache: time.Duration(n[38]),
		Queue: time.Duration(n[39]), Connect: time.Duration(n[40]), Decoding: time.Duration(n[41]),
	}
	a.ClientRequest.Size, a.ClientResponse.Size = int64(n[42]), int64(n[43])
	a.Reshaped.Size = int64(n[52])
}

// texts writes pointers to the string fields to t in their stored order. New ones go last.
func (a *Attempt) texts(t *texts) {
	t[0], t[1], t[2], t[3], t[4], t[5] = &a.ID, &a.RequestID, &a.TraceID, &a.SpanID, &a.ParentSpan, &a.SpanName
	t[6], t[7], t[8], t[9], t[10], t[11] = &a.OrgID, &a.WorkspaceID, &a.KeyID, &a.KeyName, &a.UserID, &a.ConfigID
	t[12] = &a.TargetPath
	t[13], t[14], t[15], t[16], t[17] = &a.Provider, &a.ProviderID, &a.Model, &a.ResponseModel, (*string)(&a.Endpoint)
	t[18], t[19], t[20], t[21], t[22], t[23] = &a.Method, &a.Path, &a.UpstreamURL, (*string)(&a.Outcome), &a.Error, &a.CacheStatus
	t[24] = &a.Remote
	t[25], t[26], t[27], t[28], t[29], t[30] = &a.Request.Type, &a.Request.Encoding, &a.Response.Type, &a.Response.Encoding, &a.Dropped, &a.Usage.SearchContext
	t[31], t[32], t[33], t[34], t[35] = &a.PromptID, &a.PromptVersionID, &a.PromptSlug, (*string)(&a.Source), &a.Usage.Tier
	t[36], t[37], t[38], t[39], t[40] = &a.Spend.State, &a.Spend.Unpriced, &a.Spend.Version, &a.Spend.Terms, &a.Spend.Basis
	t[41], t[42], t[43], t[44], t[45] = &a.ReplayOf, &a.ClientRequest.Type, &a.ClientRequest.Encoding, &a.ClientResponse.Type, &a.ClientResponse.Encoding
	t[46], t[47] = &a.Reshaped.Type, &a.Reshaped.Encoding
	t[48], t[49], t[50], t[51], t[52] = &a.Runtime, &a.RuntimeVersion, &a.SDKVersion, &a.Hooks, &a.Lookup
	t[53] = &a.PromptCache
}

func (a *Attempt) flags() uint64 {
	var f uint64
	for i, isSet := range [...]bool{
		a.Stream, a.Continued, a.Usage.Reported, a.Request.Truncated, a.Response.Truncated, a.ClientRequest.Truncated, a.ClientResponse.Truncated, a.Named, a.Reshaped.Truncated, a.Translated,
	} {
		if isSet {
			f |= 1 << i
		}
	}
	return f
}

func (a *Attempt) setFlags(f uint64) {
	a.Stream, a.Continued = f&flagStream != 0, f&flagContinued != 0
	a.Request.Truncated, a.Response.Truncated = f&flagRequestCut != 0, f&flagResponseCut != 0
	a.Named, a.Reshaped.Truncated, a.Translated = f&flagNamed != 0, f&flagReshapedCut != 0, f&flagTranslated != 0
	a.ClientRequest.Truncated, a.ClientResponse.Truncated = f&flagClientRequestCut != 0, f&flagClientResponseCut != 0
}

// trailingFields lists the bytes that follow the closing ledger entry, in their stored order.
// Index is the position in the numbers of the length of the first one. New ones go last.
func (a *Attempt) trailingFields() (bytes [8]*[]byte, index int) {
	return [...]*[]byte{
		&a.ClientRequest.Bytes, &a.ClientResponse.Bytes,
		&a.Request.Head, &a.Response.Head, &a.ClientRequest.Head, &a.ClientResponse.Head,
		&a.Reshaped.Bytes, &a.Reshaped.Head,
	}, 44
}

// floatBits reverses the bits, which moves the low zero bytes of common fractions to the front,
// where a varint omits them.
func floatBits(f float64) uint64 { return bits.ReverseBytes64(math.Float64bits(f)) }

func fromFloatBits(n uint64) float64 { return math.Float64frombits(bits.ReverseBytes64(n)) }

// EncodedSize returns the number of bytes that AppendTo writes.
func (a *Attempt) EncodedSize() int {
	var n numbers
	var s texts
	a.numbers(&n)
	a.texts(&s)
	size := 1 + varint.ListsSize(n[:], s[:]) + varint.Size(uint64(len(a.Metadata))) + len(a.Request.Bytes) + len(a.Response.Bytes) + len(a.Closing)
	for k, v := range a.Metadata {
		size += varint.TextSize(k) + varint.TextSize(v)
	}
	trailing, _ := a.trailingFields()
	for _, b := range trailing {
		size += len(*b)
	}
	return size
}

// AppendTo appends the stored form of a to dst. It does not allocate when dst has capacity for
// EncodedSize bytes. Times are stored in nanoseconds and are decoded in UTC.
func (a *Attempt) AppendTo(dst []byte) []byte {
	var n numbers
	var s texts
	a.numbers(&n)
	a.texts(&s)
	dst = varint.AppendLists(append(dst, codecVersion), n[:], s[:])
	dst = varint.Append(dst, uint64(len(a.Metadata)))
	for k, v := range a.Metadata { // map order can differ between two loops, so lengths and bytes are written in one
		dst = varint.Append(dst, uint64(len(k)))
		dst = varint.Append(dst, uint64(len(v)))
		dst = append(append(dst, k...), v...)
	}
	dst = varint.AppendTexts(dst, s[:])
	dst = append(dst, a.Request.Bytes...)
	dst = append(dst, a.Response.Bytes...)
	dst = append(dst, a.Closing...)
	trailing, _ := a.trailingFields()
	for _, b := range trailing {
		dst = append(dst, *b...)
	}
	return dst
}

// Decode reads the stored form into a and replaces what a contained. The strings are copies. The
// bytes of its bodies and closing ledger entry are slices of src, valid as long as src is.
// Strings and metadata equal to the previous ones are reused, so it pays to read one record
// after another into the same Attempt. A caller must not change metadata that Decode has
// returned. On an error, a is partly filled.
func (a *Attempt) Decode(src []byte) error {
	var into texts
	a.texts(&into)
	var before [len(texts{})]string
	for i, t := range into {
		before[i] = *t
	}
	metadata := a.Metadata
	*a = Attempt{}
	d := newDecoder(src)
	if v := d.Byte(); d.Err == nil && v != codecVersion {
		return fmt.Errorf("version %d: %w", v, errMalformed)
	}
	var n numbers
	d.Numbers(n[:])
	a.setNumbers(&n)
	var lens [len(texts{})]uint64
	extra := d.Lengths(lens[:])
	a.Metadata = d.metadata(metadata)
	d.texts(&into, &lens, &before)
	d.Skip(extra)
	a.Request.Bytes, a.Response.Bytes, a.Closing = d.Bytes(n[23]), d.Bytes(n[24]), d.Bytes(n[31])
	trailing, index := a.trailingFields()
	for i, b := range trailing {
		*b = d.Bytes(n[index+i])
	}
	return d.Err
}

// ClosingOf returns the Closing from the stored form of an Attempt, Correction or LateHooks and decodes
// nothing else; nil when there is none. The bytes are a slice of src.
func ClosingOf(src []byte) ([]byte, error) {
	switch {
	case IsCorrection(src):
		line, _, err := splitCorrection(src)
		return line, err
	case IsLateHooks(src):
		return nil, nil
	}
	d := newDecoder(src)
	if v := d.Byte(); d.Err == nil && v != codecVersion {
		return nil, fmt.Errorf("version %d: %w", v, errMalformed)
	}
	var n numbers
	d.Numbers(n[:])
	var lens [len(texts{})]uint64
	trailing := d.Lengths(lens[:])
	d.skipMetadata()
	for _, size := range lens {
		trailing += size // each length fits into src, so that the sum does not overflow
	}
	d.Skip(trailing)
	d.Skip(n[23])
	d.Skip(n[24])
	line := d.Bytes(n[31])
	for _, size := range n[44:52] {
		d.Skip(size)
	}
	return line, d.Err
}

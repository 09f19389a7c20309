package tokens

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif" // registers decoders for image sizes
	_ "image/jpeg"
	_ "image/png"
)

// headBytes is how much of a file is read to identify it: for an image enough for the data
// that cameras write before its size.
const headBytes = 256 << 10

// pixels reads the size of an image from the beginning of its file: PNG, JPEG, GIF and WebP.
func pixels(head []byte) (w, h int, ok bool) {
	if w, h, ok = webp(head); ok {
		return w, h, w > 0 && h > 0
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(head))
	return c.Width, c.Height, err == nil && c.Width > 0 && c.Height > 0
}

// webp reads the size in the first chunk of a WebP file.
// Source: RFC 9649 section 2, RFC 6386 section 9.1.
func webp(b []byte) (w, h int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch p := b[20:]; string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(p[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(p[8:])) & 0x3fff, true
	case "VP8L":
		bits := binary.LittleEndian.Uint32(p[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		return int(p[4]) | int(p[5])<<8 | int(p[6])<<16 + 1, int(p[7]) | int(p[8])<<8 | int(p[9])<<16 + 1, true
	}
	return 0, 0, false
}

// pdfPages counts the uncompressed page objects of a PDF. It returns 0 if they are in
// compressed streams, or if b is not a PDF.
func pdfPages(b []byte) int64 {
	if !bytes.HasPrefix(b, []byte("%PDF-")) {
		return 0
	}
	var n int64
	for {
		i := bytes.Index(b, []byte("/Type"))
		if i < 0 {
			return n
		}
		b = bytes.TrimLeft(b[i+len("/Type"):], " \r\n")
		if bytes.HasPrefix(b, []byte("/Page")) && !bytes.HasPrefix(b, []byte("/Pages")) {
			n++
		}
	}
}

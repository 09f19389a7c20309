package tokens

import (
	"bytes"
	"encoding/binary"
)

// AudioHeadBytes is how much of a recording is read to determine its length.
const AudioHeadBytes = 4 << 10

// AudioMillis returns the length of a recording of that many bytes, in milliseconds. It uses
// the first AudioHeadBytes bytes if they contain the rate, as in WAVE, MP3 and FLAC files,
// else 128 kbit/s.
func AudioMillis(head []byte, size int64) int64 {
	rate := audioByteRate(head, size, typicalAudioRate)
	return (max(size, 0)*1000 + rate - 1) / rate
}

// audioByteRate returns the bytes per second of a recording, or usual if its head does not
// contain the rate.
func audioByteRate(head []byte, size, usual int64) int64 {
	for _, declared := range [...]int64{waveRate(head), mp3Rate(head, size), flacRate(head, size)} {
		if declared > 0 {
			return max(minAudioRate, declared)
		}
	}
	return usual
}

// waveRate returns the bytes per second of a WAVE file, 0 for any other. An uncompressed file
// states the rate twice: players use the samples, and the lower rate is returned.
func waveRate(b []byte) int64 {
	const riff, chunk, format = 12, 8, 14 // bytes of the heads, and of the format as far as it is read
	if len(b) < riff || string(b[:4]) != "RIFF" || string(b[8:riff]) != "WAVE" {
		return 0
	}
	for b = b[riff:]; len(b) >= chunk+format; {
		size := int(binary.LittleEndian.Uint32(b[4:]))
		if string(b[:4]) == "fmt " {
			b = b[chunk:]
			samples, declared, each := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint16(b[12:])
			return min(int64(declared), int64(samples)*int64(each))
		}
		b = b[min(len(b), chunk+size+size&1):]
	}
	return 0
}

// maxMP3Rate is the maximum number of bytes per second of an MP3 file: 320 kbit/s.
const maxMP3Rate = 40_000

// mp3Bits are the rates of MP3, in kbit/s, of its first version and of the others.
// Source: ISO/IEC 11172-3 section 2.4.2.3, ISO/IEC 13818-3 section 2.4.2.3.
var mp3Bits = [2][16]int64{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0},
}

// mp3Rate returns the bytes per second of an MP3 file of that size, by its first frame. If
// that frame contains the number of frames, as in files with a variable rate, it uses that. It
// returns 0 for any other file.
func mp3Rate(b []byte, size int64) int64 {
	if len(b) >= 10 && string(b[:3]) == "ID3" { // Source: https://id3.org/id3v2.4.0-structure section 3.1
		b = b[min(len(b), 10+int(b[6])<<21+int(b[7])<<14+int(b[8])<<7+int(b[9])):]
	}
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 || b[2]&0x0c == 0x0c {
		return 0 // not a frame of layer III
	}
	rate, samples, later := [...]int64{44_100, 48_000, 32_000}[b[2]>>2&3], int64(1152), 0
	switch b[1] >> 3 & 3 {
	case 0: // version 2.5
		rate, samples, later = rate/4, samples/2, 1
	case 1:
		return 0 // does not exist
	case 2:
		rate, samples, later = rate/2, samples/2, 1
	}
	declared := mp3Bits[later][b[2]>>4] * 1000 / 8
	if _, x, ok := bytes.Cut(b[:min(len(b), 64)], []byte("Xing")); ok && len(x) >= 8 && x[3]&1 != 0 {
		if frames := int64(binary.BigEndian.Uint32(x[4:])); frames > 0 {
			declared = size * rate / (frames * samples)
		}
	}
	return min(declared, maxMP3Rate)
}

// flacRate returns the bytes per second of a FLAC file of that size, at most the rate of its
// uncompressed samples. It returns 0 for any other file, and if the file does not contain it.
// Source: RFC 9639 section 8.2.
func flacRate(b []byte, size int64) int64 {
	const info = 8
	if len(b) < info+18 || string(b[:4]) != "fLaC" || b[4]&0x7f != 0 {
		return 0
	}
	x := binary.BigEndian.Uint64(b[info+10:])
	rate, channels, bits, samples := int64(x>>44), int64(x>>41&7)+1, int64(x>>36&31)+1, int64(x&(1<<36-1))
	if samples == 0 {
		return 0
	}
	return min(size*rate/samples, rate*channels*bits/8)
}

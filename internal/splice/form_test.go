package splice_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"sluice/internal/fault"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

const (
	boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
	formType = "multipart/form-data; boundary=" + boundary
)

// form writes a body as browsers do; # stands for the boundary line, ~ for a line break.
func form(s string) string {
	return strings.NewReplacer("#", "--"+boundary, "~", "\r\n").Replace(s)
}

const speech = `#~Content-Disposition: form-data; name="file"; filename="speech.mp3"~Content-Type: audio/mpeg~~ID3` + "\x00\xff\r\n--" + `~~#~` +
	`Content-Disposition: form-data; name="model"~~whisper-1~#~` +
	`Content-Disposition: form-data; name="timestamp_granularities[]"~~word~#~` +
	`Content-Disposition: form-data; name="timestamp_granularities[]"~~segment~#--~`

func read(t testing.TB, body string, r io.Reader, lim splice.FormLimits) (*splice.Form, error) {
	t.Helper()
	sp := wire.NewSpool(t.TempDir())
	t.Cleanup(func() {
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	})
	if r == nil {
		r = strings.NewReader(body)
	}
	return splice.ReadForm(r, formType, sp, lim)
}

func content(t testing.TB, p wire.Payload) string {
	t.Helper()
	var b bytes.Buffer
	if n, err := p.WriteTo(&b); err != nil || n != p.Len() {
		t.Fatalf("wrote %d of %d bytes: %v", n, p.Len(), err)
	}
	return b.String()
}

func TestReadForm(t *testing.T) {
	t.Parallel()
	body := form(speech)
	for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body)), iotest.DataErrReader(strings.NewReader("\r\n" + body))} {
		f, err := read(t, "", r, splice.FormLimits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Parts) != 4 {
			t.Fatalf("%d parts, want 4", len(f.Parts))
		}
		all := content(t, f.Payload())
		file := f.Part("file")
		if !file.HasFileName || file.FileName != "speech.mp3" || file.ContentType != "audio/mpeg" || file.Value != nil {
			t.Errorf("file = %+v", file)
		}
		if got := all[file.Off : file.Off+file.Len]; got != "ID3\x00\xff\r\n--\r\n" {
			t.Errorf("the file's content is %q", got)
		}
		for _, p := range f.Parts {
			if part := all[p.PartOff : p.PartOff+p.PartLen]; !strings.HasPrefix(part, "--"+boundary+"\r\n") || !strings.HasSuffix(part, all[p.Off:p.Off+p.Len]) {
				t.Errorf("part %s lies at %q", p.Name, part)
			}
		}
		if v, ok := f.Value("model"); !ok || v != "whisper-1" {
			t.Errorf("model = %q, %v", v, ok)
		}
		if _, ok := f.Value("file"); ok {
			t.Error("a file was read as a field")
		}
	}
}

func TestReadFormRefuses(t *testing.T) {
	t.Parallel()
	field := func(head, val string) string { return form("#~" + head + "~~" + val + "~#--~") }
	name := `Content-Disposition: form-data; name="model"`
	lim := splice.FormLimits{Total: 1 << 20, Parts: 3, Head: 300, Value: 1000}
	for _, c := range []struct {
		name, body string
		code       fault.Code
		says       string
	}{
		{"nothing", "", fault.InvalidRequest, "does not begin with its boundary"},
		{"text in front", "hello\r\n" + field(name, "m"), fault.InvalidRequest, "does not begin with its boundary"},
		{"another boundary", "--other\r\n", fault.InvalidRequest, "does not begin with its boundary"},
		{"no end", form("#~" + name + "~~whisper"), fault.InvalidRequest, "ends before its last boundary"},
		{"an end without its dashes", form("#~" + name + "~~whisper~#"), fault.InvalidRequest, "ends before its last boundary"},
		{"no head end", form("#~" + name), fault.InvalidRequest, "ends before its last boundary"},
		{"text behind", field(name, "m") + "more", fault.InvalidRequest, "something follows its last boundary"},
		{"a second form behind", field(name, "m") + field(name, "n"), fault.InvalidRequest, "something follows its last boundary"},
		{"a longer boundary", form("#x~" + name + "~~m~#--~"), fault.InvalidRequest, "something else stands behind a boundary"},
		{"bare line feeds", strings.ReplaceAll(field(name, "m"), "\r\n", "\n"), fault.InvalidRequest, "behind a boundary"},
		{"no disposition", field("Content-Type: text/plain", "m"), fault.InvalidRequest, "no content-disposition"},
		{"two dispositions", field(name+"~"+strings.Replace(name, "model", "x", 1), "m"), fault.InvalidRequest, "two content-disposition"},
		{"no name", field("Content-Disposition: form-data", "m"), fault.InvalidRequest, "has no name"},
		{"two names", field(name+`; name="x"`, "m"), fault.InvalidRequest, "content-disposition is not valid"},
		{"a folded line", field(name+";~ x=y", "m"), fault.InvalidRequest, "header line of a part"},
		{"no colon", field(name+"~oops", "m"), fault.InvalidRequest, "header line of a part"},
		{"an encoded part", field(name+"~Content-Transfer-Encoding: base64", "bQ=="), fault.InvalidRequest, "content-transfer-encoding"},
		{"a large head", field(name+"~X-Pad: "+strings.Repeat("x", 300), "m"), fault.InvalidRequest, "larger than 300 bytes"},
		{"a large value", field(name, strings.Repeat("m", 1001)), fault.InvalidRequest, `field "model" is larger than 1000 bytes`},
		{"two models", form("#~" + name + "~~a~#~" + name + "~~b~#--~"), fault.InvalidRequest, "more than once"},
		{"too many parts", form(strings.Repeat("#~Content-Disposition: form-data; name=\"a\"~~b~", 4) + "#--~"), fault.InvalidRequest, "more than 3 parts"},
		{"too large", field(name+`; filename="a.wav"`, strings.Repeat("m", 1<<20)), fault.TooLarge, "larger than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := strings.ReplaceAll(c.body, "~", "\r\n")
			_, err := read(t, body, nil, lim)
			if f := fault.From(err); err == nil || f.Code != c.code || !strings.Contains(f.Public, c.says) {
				t.Fatalf("got %v, want %s saying %q", err, c.code, c.says)
			}
		})
	}
}

func TestReadFormContentTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType string
		code        fault.Code
	}{
		{"application/json", fault.UnsupportedMedia},
		{"multipart/mixed; boundary=x", fault.UnsupportedMedia},
		{"", fault.UnsupportedMedia},
		{"multipart/form-data", fault.InvalidRequest},
		{`multipart/form-data; boundary="a "`, fault.InvalidRequest},
		{"multipart/form-data; boundary=" + strings.Repeat("x", 71), fault.InvalidRequest},
	} {
		sp := wire.NewSpool(t.TempDir())
		if _, err := splice.ReadForm(strings.NewReader("--x--"), c.contentType, sp, splice.FormLimits{}); !fault.Has(err, c.code) {
			t.Errorf("%q: %v, want %s", c.contentType, err, c.code)
		}
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadFormKeepsTheReadersError(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	_, err := read(t, "", io.MultiReader(strings.NewReader(form(speech)[:90]), iotest.ErrReader(broken)), splice.FormLimits{})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
}

func TestFormEdit(t *testing.T) {
	t.Parallel()
	type edits = []splice.FieldEdit
	added := func(name, v string) string {
		return `#~Content-Disposition: form-data; name="` + name + `"~~` + v + `~`
	}
	for _, c := range []struct {
		name  string
		edits edits
		want  string // of speech
	}{
		{"nothing", nil, speech},
		{"set", edits{splice.SetField("model", "gpt-4o-transcribe")}, strings.Replace(speech, "whisper-1", "gpt-4o-transcribe", 1)},
		{"set to nothing", edits{splice.SetField("model", "")}, strings.Replace(speech, "whisper-1", "", 1)},
		{"add", edits{splice.SetField("language", "de")}, strings.Replace(speech, "#--", added("language", "de")+"#--", 1)},
		{"add a strange name", edits{splice.SetField("a\"\r\nb", "v")}, strings.Replace(speech, "#--", added("a%22%0D%0Ab", "v")+"#--", 1)},
		{"default", edits{splice.DefaultField("model", "x"), splice.DefaultField("temperature", "0.5")}, strings.Replace(speech, "#--", added("temperature", "0.5")+"#--", 1)},
		{"fewer of many", edits{splice.SetField("timestamp_granularities[]", "segment")}, strings.Replace(strings.Replace(speech, "~word~", "~segment~", 1), added("timestamp_granularities[]", "segment")+"#--", "#--", 1)},
		{"more of many", edits{splice.SetField("timestamp_granularities[]", "word", "segment", "x")}, strings.Replace(speech, "#--", added("timestamp_granularities[]", "x")+"#--", 1)},
		{"drop the first", edits{splice.DropField("file")}, speech[strings.Index(speech, "#~Content-Disposition: form-data; name=\"model\""):]},
		{"drop all", edits{splice.DropField("file"), splice.DropField("model"), splice.DropField("timestamp_granularities[]")}, "#--~"},
		{"drop and set", edits{splice.DropField("timestamp_granularities[]"), splice.SetField("timestamp_granularities[]", "x"), splice.DropField("file"), splice.DropField("model")}, added("timestamp_granularities[]", "x") + "#--~"},
		{"drop what is not there", edits{splice.DropField("user")}, speech},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, lead := range []string{"", "~"} {
				f, err := read(t, form(lead+speech), nil, splice.FormLimits{})
				if err != nil {
					t.Fatal(err)
				}
				p, err := f.Edit(c.edits)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := content(t, p), form(lead+c.want); got != want {
					t.Errorf("got\n%q\nwant\n%q", got, want)
				}
			}
		})
	}
}

func TestFormEditOfAnEmptyForm(t *testing.T) {
	t.Parallel()
	f, err := read(t, form("#--"), nil, splice.FormLimits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Edit([]splice.FieldEdit{splice.SetField("model", "m")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, p), form(`#~Content-Disposition: form-data; name="model"~~m~#--`); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormEditRefusesTheBoundaryInAValue(t *testing.T) {
	t.Parallel()
	f, err := read(t, form(speech), nil, splice.FormLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{form("a~#~Content-Disposition: form-data; name=\"model\"~~evil"), form("#--")} {
		if _, err := f.Edit([]splice.FieldEdit{splice.SetField("prompt", v)}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("value %q: %v", v, err)
		}
	}
}

// largeForm is a form with a file of n bytes that is made while it is read.
func largeForm(n int64) io.Reader {
	head := form("#~Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"~~")
	tail := form("~#~Content-Disposition: form-data; name=\"model\"~~whisper-1~#--~")
	return io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, n), strings.NewReader(tail))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadFormMemoryDoesNotGrow(t *testing.T) {
	const size = 25 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := read(t, "", largeForm(size), splice.FormLimits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Edit([]splice.FieldEdit{splice.SetField("model", "m")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if f.Part("file").Len != size {
		t.Fatalf("the file has %d bytes", f.Part("file").Len)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("a form of 25 MiB allocated %d bytes, the spool alone takes about 5 MiB", used)
	}
}

func FuzzReadForm(f *testing.F) {
	f.Add([]byte(form(speech)), uint8(7))
	f.Add([]byte(form("#--")), uint8(1))
	f.Add([]byte(form("#  ~content-disposition: form-data; name=a~~~#--  ~~")), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, step uint8) {
		sp := wire.NewSpool(t.TempDir())
		defer sp.Close()
		got, err := splice.ReadForm(&stepReader{body, int(step%64) + 1}, formType, sp, splice.FormLimits{Total: 1 << 20, Parts: 8})
		if err != nil {
			return
		}
		std := multipart.NewReader(bytes.NewReader(body), boundary)
		for _, p := range got.Parts {
			q, err := std.NextRawPart()
			if err != nil {
				t.Fatalf("mime/multipart has no part %q: %v", p.Name, err)
			}
			b, err := io.ReadAll(q)
			if err != nil || q.FormName() != p.Name || !bytes.Equal(b, body[p.Off:p.Off+p.Len]) {
				t.Fatalf("mime/multipart reads %q = %q, %v; we read %q = %q", q.FormName(), b, err, p.Name, body[p.Off:p.Off+p.Len])
			}
		}
		if q, err := std.NextRawPart(); err != io.EOF {
			t.Fatalf("mime/multipart has a further part %v, %v", q, err)
		}
		if all := content(t, got.Payload()); all != string(body) {
			t.Fatalf("the payload is %q", all)
		}
	})
}

// stepReader gives at most n bytes at a time.
type stepReader struct {
	b []byte
	n int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.n)], r.b)
	r.b = r.b[n:]
	return n, nil
}

func BenchmarkReadForm(b *testing.B) {
	for _, size := range []int64{100 << 10, 1 << 20, 25 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				sp := wire.NewSpool(dir)
				if _, err := splice.ReadForm(largeForm(size), formType, sp, splice.FormLimits{}); err != nil {
					b.Fatal(err)
				}
				if err := sp.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package multipartedit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
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

func read(t testing.TB, body string, r io.Reader, lim multipartedit.Limits) (*multipartedit.Form, error) {
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
	return multipartedit.Read(r, formType, sp, lim)
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
		f, err := read(t, "", r, multipartedit.Limits{})
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

// hidden is a form in which some readers find a second model in front of the one that we
// would: the content of prompt begins with a boundary.
const hidden = `#~Content-Disposition: form-data; name="prompt"~~#~Content-Disposition: form-data; name="model"~~expensive~` +
	`#~Content-Disposition: form-data; name="model"~~whisper-1~#--~`

func TestReadFormRefuses(t *testing.T) {
	t.Parallel()
	field := func(head, val string) string { return form("#~" + head + "~~" + val + "~#--~") }
	name := `Content-Disposition: form-data; name="model"`
	lim := multipartedit.Limits{Total: 1 << 20, Parts: 3, Head: 300, Value: 1000}
	for _, c := range []struct {
		name, body string
		code       fault.Code
		message    string
	}{
		{"nothing", "", fault.InvalidRequest, "must begin with its boundary"},
		{"text in front", "hello\r\n" + field(name, "m"), fault.InvalidRequest, "must begin with its boundary"},
		{"another boundary", "--other\r\n", fault.InvalidRequest, "must begin with its boundary"},
		{"no end", form("#~" + name + "~~whisper"), fault.InvalidRequest, "unexpected end before the last boundary"},
		{"an end without its dashes", form("#~" + name + "~~whisper~#"), fault.InvalidRequest, "unexpected end before the last boundary"},
		{"no head end", form("#~" + name), fault.InvalidRequest, "unexpected end before the last boundary"},
		{"text behind", field(name, "m") + "more", fault.InvalidRequest, "unexpected data after the last boundary"},
		{"a second form behind", field(name, "m") + field(name, "n"), fault.InvalidRequest, "unexpected data after the last boundary"},
		{"a longer boundary", form("#x~" + name + "~~m~#--~"), fault.InvalidRequest, "unexpected data after a boundary"},
		{"bare line feeds", strings.ReplaceAll(field(name, "m"), "\r\n", "\n"), fault.InvalidRequest, "unexpected data after a boundary"},
		{"no disposition", field("Content-Type: text/plain", "m"), fault.InvalidRequest, "must have a content-disposition"},
		{"two dispositions", field(name+"~"+strings.Replace(name, "model", "x", 1), "m"), fault.InvalidRequest, "duplicate content-disposition"},
		{"no name", field("Content-Disposition: form-data", "m"), fault.InvalidRequest, "must have a name"},
		{"two names", field(name+`; name="x"`, "m"), fault.InvalidRequest, "invalid content-disposition"},
		{"a folded line", field(name+";~ x=y", "m"), fault.InvalidRequest, "header line of a part"},
		{"no colon", field(name+"~oops", "m"), fault.InvalidRequest, "header line of a part"},
		{"an encoded part", field(name+"~Content-Transfer-Encoding: base64", "bQ=="), fault.InvalidRequest, "content-transfer-encoding"},
		{"a large head", field(name+"~X-Pad: "+strings.Repeat("x", 300), "m"), fault.InvalidRequest, "exceed 300 bytes"},
		{"a large value", field(name, strings.Repeat("m", 1001)), fault.InvalidRequest, `field "model" exceeds 1000 bytes`},
		{"a boundary where the content begins", form(hidden), fault.InvalidRequest, "begins with the boundary"},
		{"a last boundary where the content begins", field(name, "#--"), fault.InvalidRequest, "begins with the boundary"},
		{"a boundary behind a line feed", field(name, "a\n#"), fault.InvalidRequest, "begins with the boundary"},
		{"a boundary behind a carriage return", field(name, "a\r#"), fault.InvalidRequest, "begins with the boundary"},
		{"a boundary behind a line feed alone", field(name, "\n#"), fault.InvalidRequest, "begins with the boundary"},
		{"a boundary among the header lines", field("X: y~#: z~"+name, "m"), fault.InvalidRequest, "a header line of a part begins with the boundary"},
		{"a boundary as the first header line", field("#: z~"+name, "m"), fault.InvalidRequest, "a header line of a part begins with the boundary"},
		{"a line feed behind a header line", field(name+"\n~X: y", "m"), fault.InvalidRequest, "header line of a part"},
		{"an encoded name", field(`Content-Disposition: form-data; name*=utf-8''model`, "m"), fault.InvalidRequest, "the name of a part is encoded"},
		{"a name and an encoded one", field(`Content-Disposition: form-data; name="prompt"; NAME*=utf-8''model`, "m"), fault.InvalidRequest, "the name of a part is encoded"},
		{"an encoded name that cannot be decoded", field(name+`; name*=latin1''model`, "m"), fault.InvalidRequest, "the name of a part is encoded"},
		{"a name in pieces", field(`Content-Disposition: form-data; name*0=mo; name*1=del`, "m"), fault.InvalidRequest, "the name of a part is encoded"},
		{"a name and an encoded piece behind a quoted text", field(name+`; x="\";=" ; name*0*=utf-8''x`, "m"), fault.InvalidRequest, "the name of a part is encoded"},
		{"an encoded file name alone", field(`Content-Disposition: form-data; name="file"; filename*=utf-8''a.wav`, "m"), fault.InvalidRequest, "without a plain filename"},
		{"a file name in pieces", field(`Content-Disposition: form-data; name="file"; filename*0=a; filename*1=b`, "m"), fault.InvalidRequest, "without a plain filename"},
		{"an encoded file name of a model", field(name+`; filename="a"; filename*=utf-8''a`, "m"), fault.InvalidRequest, "encoded file name"},
		{"a name with a backslash", field(`Content-Disposition: form-data; name="mod\el"`, "m"), fault.InvalidRequest, "backslash"},
		{"a name as mail has it", field(`Content-Disposition: form-data; name="=?utf-8?q?model?="`, "m"), fault.InvalidRequest, "backslash or =?"},
		{"two sizes", form(`#~Content-Disposition: form-data; name="size"~~a~#~Content-Disposition: form-data; name="Size"~~b~#--~`), fault.InvalidRequest, "duplicate form field size"},
		{"two models", form("#~" + name + "~~a~#~" + name + "~~b~#--~"), fault.InvalidRequest, "duplicate form field model"},
		{"too many parts", form(strings.Repeat("#~Content-Disposition: form-data; name=\"a\"~~b~", 4) + "#--~"), fault.InvalidRequest, "more than 3 parts"},
		{"too large", field(name+`; filename="a.wav"`, strings.Repeat("m", 1<<20)), fault.TooLarge, "exceeds 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := strings.ReplaceAll(c.body, "~", "\r\n")
			for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
				_, err := read(t, "", r, lim)
				if f := fault.From(err); err == nil || f.Code != c.code || !strings.Contains(f.Public, c.message) {
					t.Fatalf("got %v, want %s saying %q", err, c.code, c.message)
				}
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
		{"multipart/form-data; boundary=y; boundary*=utf-8''x", fault.InvalidRequest},
		{"multipart/form-data; boundary=x; Boundary*=latin1''y", fault.InvalidRequest},
		{"multipart/form-data; boundary*0=x", fault.InvalidRequest},
		{"multipart/form-data; boundary*0*=utf-8''x; boundary=x", fault.InvalidRequest},
		{`multipart/form-data; boundary="x"; charset="a;b=c" ; boundary*1=y`, fault.InvalidRequest},
		{`multipart/form-data; boundary="\x"`, fault.InvalidRequest},
		{`multipart/form-data; boundary="x\("`, fault.InvalidRequest},
	} {
		sp := wire.NewSpool(t.TempDir())
		if _, err := multipartedit.Read(strings.NewReader("--x--"), c.contentType, sp, multipartedit.Limits{}); !fault.Has(err, c.code) {
			t.Errorf("%q: %v, want %s", c.contentType, err, c.code)
		}
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What cannot be taken for anything else passes: stars and boundaries that stand in values,
// and files whose names older clients send in both spellings.
func TestReadFormTakesWhatIsClear(t *testing.T) {
	t.Parallel()
	sp := wire.NewSpool(t.TempDir())
	defer sp.Close()
	if _, err := multipartedit.Read(strings.NewReader("--a*b--"), `multipart/form-data; charset="x;y*=z"; boundary=a*b`, sp, multipartedit.Limits{}); err != nil {
		t.Errorf("stars in values: %v", err)
	}
	for _, c := range []struct{ head, content, name, file string }{
		{`name="file"; filename="a.wav"; filename*=utf-8''%c3%a4.wav`, "m", "file", "ä.wav"},
		{`filename*=iso-8859-1''%e4.wav; name="file"; filename="a.wav"`, "m", "file", "a.wav"},
		{`name="file"; filename="name*=x; filename*=y.wav"`, "m", "file", "name*=x; filename*=y.wav"},
		{`name="file"; filename="C:\dir\a.wav"`, "m", "file", `C:\dir\a.wav`},
		{`name="file"; filename="a"; x*=utf-8''y`, "m", "file", "a"},
		{`name="file"; filename="a"`, form("a#") + form("-#~x #"), "file", "a"},
		{`name="file"; filename="a"`, form("\n-#\r-#") + strings.Repeat(form("a#"), 10_000), "file", "a"},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			body := form("#~Content-Disposition: form-data; ") + c.head + "\r\n\r\n" + c.content + form("~#--~")
			f, err := read(t, "", &stepReader{[]byte(body), step}, multipartedit.Limits{})
			if err != nil {
				t.Errorf("%s: %v", c.head, err)
				continue
			}
			p := f.Parts[0]
			if got := body[p.Off : p.Off+p.Len]; p.Name != c.name || p.FileName != c.file || !p.HasFileName || got != c.content {
				t.Errorf("%s: read %+v with %d bytes, want %d", c.head, p, len(got), len(c.content))
			}
		}
	}
}

func TestReadFormKeepsTheReadersError(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	_, err := read(t, "", io.MultiReader(strings.NewReader(form(speech)[:90]), iotest.ErrReader(broken)), multipartedit.Limits{})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
}

func TestFormEdit(t *testing.T) {
	t.Parallel()
	type edits = []multipartedit.Edit
	added := func(name, v string) string {
		return `#~Content-Disposition: form-data; name="` + name + `"~~` + v + `~`
	}
	for _, c := range []struct {
		name  string
		edits edits
		want  string // of speech
	}{
		{"nothing", nil, speech},
		{"set", edits{multipartedit.Set("model", "gpt-4o-transcribe")}, strings.Replace(speech, "whisper-1", "gpt-4o-transcribe", 1)},
		{"set to nothing", edits{multipartedit.Set("model", "")}, strings.Replace(speech, "whisper-1", "", 1)},
		{"add", edits{multipartedit.Set("language", "de")}, strings.Replace(speech, "#--", added("language", "de")+"#--", 1)},
		{"add a strange name", edits{multipartedit.Set("a\"\r\nb", "v")}, strings.Replace(speech, "#--", added("a%22%0D%0Ab", "v")+"#--", 1)},
		{"default", edits{multipartedit.SetDefault("model", "x"), multipartedit.SetDefault("temperature", "0.5")}, strings.Replace(speech, "#--", added("temperature", "0.5")+"#--", 1)},
		{"fewer of many", edits{multipartedit.Set("timestamp_granularities[]", "segment")}, strings.Replace(strings.Replace(speech, "~word~", "~segment~", 1), added("timestamp_granularities[]", "segment")+"#--", "#--", 1)},
		{"more of many", edits{multipartedit.Set("timestamp_granularities[]", "word", "segment", "x")}, strings.Replace(speech, "#--", added("timestamp_granularities[]", "x")+"#--", 1)},
		{"drop the first", edits{multipartedit.Drop("file")}, speech[strings.Index(speech, "#~Content-Disposition: form-data; name=\"model\""):]},
		{"drop all", edits{multipartedit.Drop("file"), multipartedit.Drop("model"), multipartedit.Drop("timestamp_granularities[]")}, "#--~"},
		{"drop and set", edits{multipartedit.Drop("timestamp_granularities[]"), multipartedit.Set("timestamp_granularities[]", "x"), multipartedit.Drop("file"), multipartedit.Drop("model")}, added("timestamp_granularities[]", "x") + "#--~"},
		{"drop what is not there", edits{multipartedit.Drop("user")}, speech},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, lead := range []string{"", "~"} {
				f, err := read(t, form(lead+speech), nil, multipartedit.Limits{})
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
	f, err := read(t, form("#--"), nil, multipartedit.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Edit([]multipartedit.Edit{multipartedit.Set("model", "m")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, p), form(`#~Content-Disposition: form-data; name="model"~~m~#--`); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormEditRefusesTheBoundaryInAValue(t *testing.T) {
	t.Parallel()
	f, err := read(t, form(speech), nil, multipartedit.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const part = "~Content-Disposition: form-data; name=\"model\"~~evil"
	for _, v := range []string{form("a~#" + part), form("#--"), form("a\n#" + part), form("a\r#" + part)} { // some readers need no whole line break
		if _, err := f.Edit([]multipartedit.Edit{multipartedit.Set("prompt", v)}); !fault.Has(err, fault.InvalidRequest) {
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
	f, err := read(t, "", largeForm(size), multipartedit.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Edit([]multipartedit.Edit{multipartedit.Set("model", "m")})
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
	dir := f.TempDir()
	f.Add([]byte(form(speech)), uint8(7))
	f.Add([]byte(form("#--")), uint8(1))
	f.Add([]byte(form(hidden)), uint8(3))
	f.Add([]byte(form("#~Content-Disposition: form-data; name=\"a\"; filename*=utf-8''b~~\n#~#--~")), uint8(4))
	f.Add([]byte(form("#~Content-Disposition: form-data; name=\"a\"\n~X: y~~b~#--~")), uint8(5))
	f.Add([]byte(form("#  ~content-disposition: form-data; name=a~~~#--  ~~")), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, step uint8) {
		agree(t, dir, body, int(step%64)+1)
	})
}

// What is read is what mime/multipart reads, and what a reader would that takes a boundary
// at the beginning of any line, however it ends: it is put together of what could be
// taken in more ways than one.
func TestReadFormReadsWhatOthersRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fragments := rapid.SampledFrom([]string{"#", "#", "#~", "#--", "~", "~", "\r", "\n", "-", "--", " ", "x", "a: b~", "#: b~",
		`~Content-Disposition: form-data; name="a"~`, `~Content-Disposition: form-data; name="model"~~`, `#~Content-Disposition: form-data; name="b"; filename="c"~~`})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			b.WriteString(`#~Content-Disposition: form-data; name="` + rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name") + `"`)
			b.WriteString(rapid.SampledFrom([]string{"~~", "~~", "~~", "\n~", "~x: y~~", "~#:x~~"}).Draw(t, "head"))
			b.WriteString(strings.Join(rapid.SliceOfN(fragments, 0, 5).Draw(t, "content"), "") + "~")
		}
		agree(t, dir, []byte(form(b.String()+"#--~")), rapid.IntRange(1, 64).Draw(t, "step"))
	})
}

// lines are the places where a line begins with the boundary.
var lines = regexp.MustCompile(`(?:^|\r\n|\r|\n)--` + boundary)

// agree fails when we take a form that others take for another one.
func agree(t interface {
	Fatalf(format string, args ...any)
}, dir string, body []byte, step int) {
	sp := wire.NewSpool(dir)
	defer sp.Close()
	got, err := multipartedit.Read(&stepReader{body, step}, formType, sp, multipartedit.Limits{Total: 1 << 20, Parts: 8})
	if err != nil {
		return
	}
	std := multipart.NewReader(bytes.NewReader(body), boundary)
	for _, p := range got.Parts {
		q, err := std.NextRawPart()
		if err != nil {
			t.Fatalf("mime/multipart has no part %q of %q: %v", p.Name, body, err)
		}
		b, err := io.ReadAll(q)
		if err != nil || q.FormName() != p.Name || !bytes.Equal(b, body[p.Off:p.Off+p.Len]) {
			t.Fatalf("mime/multipart reads %q = %q, %v; we read %q = %q of %q", q.FormName(), b, err, p.Name, body[p.Off:p.Off+p.Len], body)
		}
	}
	if q, err := std.NextRawPart(); err != io.EOF {
		t.Fatalf("mime/multipart has a further part %v of %q, %v", q, body, err)
	}
	if n := len(lines.FindAll(body, -1)); n != len(got.Parts)+1 {
		t.Fatalf("%d lines of %q begin with the boundary, and it has %d parts", n, body, len(got.Parts))
	}
	var all bytes.Buffer
	if _, err := got.Payload().WriteTo(&all); err != nil || !bytes.Equal(all.Bytes(), body) {
		t.Fatalf("the payload is %q, %v", all.Bytes(), err)
	}
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
				if _, err := multipartedit.Read(largeForm(size), formType, sp, multipartedit.Limits{}); err != nil {
					b.Fatal(err)
				}
				if err := sp.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package files_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"parley"
	"parley/files"
)

// tinyWebP is a lossless webp of 1 × 1 pixels.
const tinyWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

// gradient is red to the right and green downwards.
func gradient(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(x * 255 / w), G: uint8(y * 255 / h), A: 255})
		}
	}
	return img
}

func encode(t *testing.T, kind string, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 95})
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "bmp":
		err = bmp.Encode(&b, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func webp(t *testing.T) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(tinyWebP)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// animatedWebP is the header of a moving webp.
func animatedWebP(w, h int) string {
	size := func(n int) string { return string([]byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)}) }
	return "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00" + size(w) + size(h)
}

// claim changes the size in a png's header, as a decompression bomb does.
func claim(data string, w, h uint32) string {
	raw := []byte(data)
	binary.BigEndian.PutUint32(raw[16:], w)
	binary.BigEndian.PutUint32(raw[20:], h)
	sum := crc(raw[12:29])
	binary.BigEndian.PutUint32(raw[29:], sum)
	return string(raw)
}

func crc(data []byte) uint32 {
	sum := ^uint32(0)
	for _, c := range data {
		sum ^= uint32(c)
		for range 8 {
			sum = sum>>1 ^ 0xedb88320*(sum&1)
		}
	}
	return ^sum
}

func (p project) picture(spec string) files.Picture {
	p.t.Helper()
	got, err := p.Images(p.t.Context(), []string{spec})
	if err != nil || len(got) != 1 {
		p.t.Fatalf("Images(%.60q): %v, %v", spec, got, err)
	}
	return got[0]
}

func TestImagesByContent(t *testing.T) {
	t.Parallel()
	small := gradient(40, 30)
	p := newProject(t, map[string]string{
		"a.txt": encode(t, "png", small), "b.png": encode(t, "jpeg", small), "c": encode(t, "gif", small), "d.gif": encode(t, "bmp", small), "e.webp": webp(t), "f.webp": animatedWebP(300, 200),
	})
	for name, want := range map[string]struct {
		mime string
		w, h int
	}{
		"a.txt": {"image/png", 40, 30}, "b.png": {"image/jpeg", 40, 30}, "c": {"image/gif", 40, 30}, "d.gif": {"image/png", 40, 30},
		"e.webp": {"image/webp", 1, 1}, "f.webp": {"image/webp", 300, 200}, filepath.Join(p.dir, "a.txt"): {"image/png", 40, 30},
	} {
		got := p.picture(name)
		if got.Image.MIME != want.mime || got.Width != want.w || got.Height != want.h || len(got.SHA256) != 64 || got.Path != filepath.Base(name) {
			t.Errorf("%s: %s, %d × %d, %s", name, got.Image.MIME, got.Width, got.Height, got.Path)
		}
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, "a.txt"))
	if err != nil || !bytes.Equal(p.picture("a.txt").Image.Data, raw) {
		t.Error("a picture that fits was changed")
	}
	if got, err := p.Images(t.Context(), []string{"a.txt", "./a.txt", "c"}); err != nil || len(got) != 2 {
		t.Errorf("the same picture twice: %d, %v", len(got), err)
	}
}

func TestImagesAreMadeSmaller(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"wide.png": encode(t, "png", gradient(4096, 64)), "tall.jpg": encode(t, "jpeg", gradient(30, 3000)), "line.bmp": encode(t, "bmp", gradient(2049, 1)), "wide.gif": encode(t, "gif", gradient(2050, 20)),
	})
	for name, want := range map[string]struct {
		mime string
		w, h int
	}{"wide.png": {"image/png", 2048, 32}, "tall.jpg": {"image/jpeg", 20, 2048}, "line.bmp": {"image/png", 2048, 1}, "wide.gif": {"image/png", 2048, 19}} {
		got := p.picture(name)
		img, _, err := image.Decode(bytes.NewReader(got.Image.Data))
		if err != nil {
			t.Fatal(err)
		}
		b := img.Bounds()
		if got.Image.MIME != want.mime || got.Width != want.w || got.Height != want.h || b.Dx() != want.w || b.Dy() != want.h {
			t.Errorf("%s: %s, %d × %d (%v)", name, got.Image.MIME, got.Width, got.Height, b)
		}
		r, _, _, a := img.At(b.Dx()*3/4, 0).RGBA()
		if r>>8 < 180 || r>>8 > 202 || a>>8 != 255 {
			t.Errorf("%s: red is %d at three quarters, want 191", name, r>>8)
		}
	}
}

// TestExifOrientation turns a photograph whose camera was held on its side.
func TestExifOrientation(t *testing.T) {
	t.Parallel()
	plain := encode(t, "jpeg", gradient(2400, 60))
	exif := "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	turned := plain[:2] + "\xff\xe1" + string([]byte{0, byte(len(exif) + 2)}) + exif + plain[2:]
	p := newProject(t, map[string]string{"a.jpg": turned})
	got := p.picture("a.jpg")
	if got.Width != 51 || got.Height != 2048 {
		t.Fatalf("%d × %d, want it upright", got.Width, got.Height)
	}
	img, err := jpeg.Decode(bytes.NewReader(got.Image.Data))
	if err != nil {
		t.Fatal(err)
	}
	// Orientation 6: the stored left edge is the top, so red grows downwards.
	top := color.NRGBAModel.Convert(img.At(25, 10)).(color.NRGBA).R
	bottom := color.NRGBAModel.Convert(img.At(25, 2037)).(color.NRGBA).R
	if top > 20 || bottom < 235 {
		t.Errorf("red is %d at the top and %d at the bottom", top, bottom)
	}
}

func TestImagesRefused(t *testing.T) {
	t.Parallel()
	ok := encode(t, "png", gradient(4, 4))
	url := func(kind, data string) string {
		return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
	}
	p := newProject(t, map[string]string{
		"text.png": "hello", "cut.png": ok[:20], "bomb.png": claim(ok, 30000, 30000), "lying.png": claim(ok, 3000, 3000), "zero.png": claim(ok, 0, 4), "big.png": ok + strings.Repeat("\x00", 10<<20),
		"id_rsa": ok, "d/a.png": ok, "fake.bmp": "BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x00\x18\x00" + strings.Repeat("\x00", 24),
	})
	for spec, want := range map[string]parley.Code{
		"text.png": parley.CodeUnsupportedFile, "cut.png": parley.CodeUnsupportedFile, "zero.png": parley.CodeUnsupportedFile, "lying.png": parley.CodeUnsupportedFile, "fake.bmp": parley.CodeUnsupportedFile,
		"bomb.png": parley.CodeFileTooLarge, "big.png": parley.CodeFileTooLarge, "id_rsa": parley.CodeFileAccessDenied, "missing.png": parley.CodeFileNotFound, "d": parley.CodeUnsupportedFile,
		"https://example.com/a.png": parley.CodeInvalidArgument, "*.png": parley.CodeFileNotFound,
		url("image/jpeg", ok): parley.CodeUnsupportedFile, url("text/plain", ok): parley.CodeUnsupportedFile, url("image/svg+xml", "<svg/>"): parley.CodeUnsupportedFile,
		"data:image/png,abc": parley.CodeInvalidArgument, "data:": parley.CodeInvalidArgument, "data:image/png;base64,@@@CANARY": parley.CodeInvalidArgument, "data:image/png;base64,": parley.CodeUnsupportedFile,
		url("image/png", ok+strings.Repeat("x", 10<<20)): parley.CodeFileTooLarge, url("image/png", "CANARY"): parley.CodeUnsupportedFile, url("image/png", claim(ok, 1<<31-1, 1<<31-1)): parley.CodeUnsupportedFile,
	} {
		got, err := p.Images(t.Context(), []string{spec})
		if parley.ErrorCode(err) != want || got != nil {
			t.Errorf("%.60q: got %v, want %s", spec, err, want)
		}
		if strings.HasPrefix(spec, "data:") && (len(err.Error()) > 300 || strings.Contains(err.Error(), "CANARY")) {
			t.Errorf("the error repeats the URL: %.300s", err)
		}
	}
}

func TestDataURLs(t *testing.T) {
	t.Parallel()
	r := newReader(t, files.Options{})
	for kind, mime := range map[string]string{"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "bmp": "image/bmp"} {
		body := base64.StdEncoding.EncodeToString([]byte(encode(t, kind, gradient(8, 8))))
		for _, url := range []string{
			"data:" + mime + ";base64," + body, "DATA:" + strings.ToUpper(mime) + ";BASE64," + body,
			"data:" + mime + ";name=x;base64," + body[:8] + "\n" + strings.TrimRight(body[8:], "="),
		} {
			got, err := r.Images(t.Context(), []string{url})
			if err != nil || len(got) != 1 || got[0].Width != 8 || got[0].Path != "data:"+mime {
				t.Errorf("%.60s: %v", url, err)
			}
		}
	}
}

func FuzzImages(f *testing.F) {
	r, err := files.New(files.Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, kind := range []string{"png", "jpeg", "gif", "webp", "bmp"} {
		f.Add("data:image/"+kind+";base64,", []byte(animatedWebP(3, 3)))
	}
	f.Fuzz(func(t *testing.T, head string, data []byte) {
		got, err := r.Images(t.Context(), []string{"data:" + head + base64.StdEncoding.EncodeToString(data)})
		for _, p := range got {
			if err != nil || p.Width <= 0 || p.Height <= 0 || p.Image.MIME == "" || p.Image.MIME == "image/bmp" {
				t.Fatalf("%+v, %v", p, err)
			}
		}
	})
}

func BenchmarkImages(b *testing.B) {
	dir := b.TempDir()
	var raw bytes.Buffer
	if err := jpeg.Encode(&raw, gradient(6000, 4000), nil); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), raw.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	r, err := files.New(files.Options{Roots: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Images(b.Context(), []string{"a.jpg"}); err != nil {
			b.Fatal(err)
		}
	}
}

package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"parley"
)

const (
	// longestSide is what the vendors shrink to at the latest; more is paid for
	// and thrown away.
	longestSide = 2048
	// mostPixels are unpacked: 200 MB of memory. A few kilobytes can claim more.
	mostPixels = 50_000_000
)

// dimensions reads a picture's size from its header, as it is stored.
func dimensions(mime string, data []byte) (width, height int, err error) {
	var cfg image.Config
	r := bytes.NewReader(data)
	switch mime {
	case "image/jpeg":
		cfg, err = jpeg.DecodeConfig(r)
	case "image/png":
		cfg, err = png.DecodeConfig(r)
	case "image/gif":
		cfg, err = gif.DecodeConfig(r)
	case "image/bmp":
		cfg, err = bmp.DecodeConfig(r)
	default:
		if w, h, ok := webpCanvas(data); ok {
			return w, h, nil
		}
		cfg, err = webp.DecodeConfig(r)
	}
	return cfg.Width, cfg.Height, err
}

// webpCanvas reads the size of a webp in the extended form, which x/image does
// not read when it is animated.
func webpCanvas(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[12:16]) != "VP8X" {
		return 0, 0, false
	}
	at := func(i int) int { return int(data[i]) | int(data[i+1])<<8 | int(data[i+2])<<16 }
	return at(24) + 1, at(27) + 1, true
}

// remake decodes a picture, makes it small enough and encodes it again: opaque
// photographs as jpeg, the rest as png. Of a moving picture the first frame is
// left.
func remake(mime string, data []byte, limit int64) (out parley.Image, width, height int, err error) {
	src, err := unpack(mime, data)
	if err != nil {
		return parley.Image{}, 0, 0, err
	}
	if b := src.Bounds(); int64(b.Dx())*int64(b.Dy()) > mostPixels {
		return parley.Image{}, 0, 0, errors.New("more pixels than its header said")
	}
	small := shrink(src, longestSide)
	if mime == "image/jpeg" {
		small = upright(small, orientation(data))
	}
	size := small.Bounds()
	var b bytes.Buffer
	if mime == "image/jpeg" || mime == "image/webp" && small.Opaque() {
		err = jpeg.Encode(&b, opaque(small), &jpeg.Options{Quality: 88})
		out.MIME = "image/jpeg"
	} else {
		err = png.Encode(&b, small)
		out.MIME = "image/png"
	}
	if err == nil && int64(b.Len()) > limit && out.MIME == "image/png" {
		b.Reset()
		err = jpeg.Encode(&b, opaque(small), &jpeg.Options{Quality: 88})
		out.MIME = "image/jpeg"
	}
	if err == nil && int64(b.Len()) > limit {
		err = errors.New("too large after conversion")
	}
	out.Data = b.Bytes()
	return out, size.Dx(), size.Dy(), err
}

// opaque is a picture as jpeg can have it: on white. The encoder is quick with
// this kind of image only.
func opaque(src *image.NRGBA) *image.RGBA {
	if src.Opaque() {
		return &image.RGBA{Pix: src.Pix, Stride: src.Stride, Rect: src.Rect}
	}
	dst := image.NewRGBA(src.Bounds())
	draw.Draw(dst, dst.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	return dst
}

func unpack(mime string, data []byte) (image.Image, error) {
	r := bytes.NewReader(data)
	switch mime {
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/png":
		return png.Decode(r)
	case "image/gif":
		return gif.Decode(r)
	case "image/bmp":
		return bmp.Decode(r)
	default:
		return webp.Decode(r)
	}
}

// shrink scales a picture down until its longer side has so many pixels, each
// the mean of those it stands for. It works line by line: the memory it needs is
// that of the result.
func shrink(src image.Image, longest int) *image.NRGBA {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	nw, nh := w, h
	if side := max(w, h); side > longest {
		nw, nh = max(1, w*longest/side), max(1, h*longest/side)
	}
	dst := image.NewNRGBA(image.Rect(0, 0, nw, nh))
	if nw == w && nh == h {
		draw.Draw(dst, dst.Bounds(), src, b.Min, draw.Src)
		return dst
	}
	line := image.NewRGBA(image.Rect(0, 0, w, 1))
	sums := make([]uint64, 4*nw)
	counts := make([]uint64, nw)
	for y := range nh {
		clear(sums)
		clear(counts)
		for sy := y * h / nh; sy < max((y+1)*h/nh, y*h/nh+1); sy++ {
			draw.Draw(line, line.Bounds(), src, image.Pt(b.Min.X, b.Min.Y+sy), draw.Src)
			addLine(sums, counts, line.Pix, w, nw)
		}
		for x := range nw {
			setMean(dst.Pix[dst.PixOffset(x, y):], sums[4*x:4*x+4], counts[x])
		}
	}
	return dst
}

func addLine(sums, counts []uint64, pix []uint8, w, nw int) {
	from := 0
	for x := range nw {
		to := max((x+1)*w/nw, from+1)
		var r, g, b, a uint64
		for p := pix[4*from : 4*to]; len(p) >= 4; p = p[4:] {
			r += uint64(p[0])
			g += uint64(p[1])
			b += uint64(p[2])
			a += uint64(p[3])
		}
		sums[4*x] += r
		sums[4*x+1] += g
		sums[4*x+2] += b
		sums[4*x+3] += a
		counts[x] += uint64(to - from)
		from = to
	}
}

// setMean writes a pixel from sums that have their alpha multiplied in, as a mean
// needs, without it, as a png has it.
func setMean(pix []uint8, sum []uint64, n uint64) {
	alpha := sum[3] / n
	for k := range 3 {
		v := uint64(0)
		if sum[3] > 0 {
			v = min(255, sum[k]*255/sum[3])
		}
		pix[k] = uint8(v)
	}
	pix[3] = uint8(alpha)
}

// orientation reads how a camera was held from a jpeg's Exif part: 1 to 8, 1 is
// upright. Encoding again loses it, so the picture is turned instead.
func orientation(data []byte) int {
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker, size := data[i+1], int(binary.BigEndian.Uint16(data[i+2:]))
		if marker == 0xda || size < 2 || i+2+size > len(data) {
			break
		}
		if part := data[i+4 : i+2+size]; marker == 0xe1 && bytes.HasPrefix(part, []byte("Exif\x00\x00")) {
			return tiffOrientation(part[6:])
		}
		i += 2 + size
	}
	return 1
}

func tiffOrientation(t []byte) int {
	if len(t) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if t[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int(order.Uint32(t[4:]))
	if at < 8 || at+2 > len(t) {
		return 1
	}
	for n := int(order.Uint16(t[at:])); n > 0; n-- {
		entry := at + 2 + (n-1)*12
		if entry+12 > len(t) {
			continue
		}
		if v := int(order.Uint16(t[entry+8:])); order.Uint16(t[entry:]) == 0x0112 && v >= 1 && v <= 8 {
			return v
		}
	}
	return 1
}

// upright turns and mirrors a picture as its orientation asks.
func upright(src *image.NRGBA, orientation int) *image.NRGBA {
	if orientation <= 1 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	dw, dh := w, h
	if orientation >= 5 {
		dw, dh = h, w
	}
	dst := image.NewNRGBA(image.Rect(0, 0, dw, dh))
	for y := range dh {
		for x := range dw {
			sx, sy := x, y
			switch orientation {
			case 2:
				sx = w - 1 - x
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sy = h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			dst.SetNRGBA(x, y, src.NRGBAAt(sx, sy))
		}
	}
	return dst
}

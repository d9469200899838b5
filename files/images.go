package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"parley"
)

// Picture is an image as it will be sent.
type Picture struct {
	// Path is relative to its root, with forward slashes, or "data:image/png" for
	// a picture that came in the call.
	Path  string
	Image parley.Image
	// SHA256 is of the image's bytes as they will be sent, in hex.
	SHA256        string
	Width, Height int
}

// Images reads pictures. Each spec is a path or a data: URL. What they are is
// seen from their content; a bmp becomes a png, and one with a side over 2,048
// pixels is made smaller. Either all are read, or an error names all that cannot
// be.
func (r *Reader) Images(ctx context.Context, specs []string) ([]Picture, error) {
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if len(specs) > r.o.MaxFiles {
		return nil, parley.Errorf(parley.CodeFileTooLarge, "%d pictures were given, and one call may send %d", len(specs), r.o.MaxFiles)
	}
	var out []Picture
	var total int64
	seen := map[string]bool{}
	for i, spec := range specs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, name, bad := c.picture(i, spec)
		if bad != nil {
			c.problems.addf(name, bad.code, "%s", bad.why)
			continue
		}
		if key := p.Path + "\x00" + p.SHA256; !seen[key] {
			seen[key] = true
			out = append(out, p)
			total += int64(len(p.Image.Data))
		}
		if total > r.o.MaxTotal {
			return nil, tooMuch(r.o.MaxTotal)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.problems.err(c.imageHint()); err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) imageHint() func(parley.Code) string {
	files := c.hint()
	return func(code parley.Code) string {
		switch code {
		case parley.CodeInvalidArgument:
			return "A picture is a path or data:image/png;base64,…; pictures on the web are not fetched."
		case parley.CodeUnsupportedFile:
			return "Pictures are jpeg, png, gif, webp or bmp, by their content."
		default:
			return files(code)
		}
	}
}

func (c *call) picture(i int, spec string) (Picture, string, *fault) {
	if len(spec) >= 5 && strings.EqualFold(spec[:5], "data:") {
		// The content stays out of every message.
		name := fmt.Sprintf("picture %d (a data: URL)", i+1)
		data, mime, bad := parseDataURL(spec, c.r.o.MaxImage)
		if bad != nil {
			return Picture{}, name, bad
		}
		p, bad := c.prepare("data:"+mime, data)
		return p, name, bad
	}
	for _, scheme := range []string{"http://", "https://", "ftp://", "file://"} {
		if len(spec) >= len(scheme) && strings.EqualFold(spec[:len(scheme)], scheme) {
			return Picture{}, spec, &fault{parley.CodeInvalidArgument, "a URL, not a path"}
		}
	}
	data, rel, bad := c.loadPicture(spec)
	if bad != nil {
		return Picture{}, spec, bad
	}
	p, bad := c.prepare(rel, data)
	return p, spec, bad
}

func (c *call) loadPicture(spec string) ([]byte, string, *fault) {
	if code, why := c.refused(spec); code != "" {
		return nil, "", &fault{code, why}
	}
	places := c.places(spec)
	if places == nil {
		return nil, "", &fault{parley.CodeFileAccessDenied, outside}
	}
	found, infos, err := c.exists(places)
	switch {
	case len(found) == 0 && err != nil:
		return nil, "", faultOf(err)
	case len(found) == 0:
		return nil, "", errGone
	case len(found) > 1:
		return nil, "", &fault{parley.CodeInvalidArgument, "it is in several of the roots; name it by its whole path"}
	}
	p, info := found[0], infos[0]
	if bad := c.checkNamed(spec, p, info, c.r.o.MaxImage); bad != nil {
		return nil, "", bad
	}
	data, _, bad := c.load(p, info, c.r.o.MaxImage, func(head []byte) *fault {
		if sniff(head) == "" {
			return errNoPicture
		}
		return nil
	})
	return data, p.rel, bad
}

var errNoPicture = &fault{parley.CodeUnsupportedFile, "not a picture of a known kind"}

// prepare makes a picture ready to be sent.
func (c *call) prepare(path string, data []byte) (Picture, *fault) {
	mime := sniff(data)
	if mime == "" {
		return Picture{}, errNoPicture
	}
	width, height, err := dimensions(mime, data)
	if err != nil || width <= 0 || height <= 0 {
		return Picture{}, &fault{parley.CodeUnsupportedFile, "a damaged picture"}
	}
	if int64(width)*int64(height) > mostPixels {
		return Picture{}, &fault{parley.CodeFileTooLarge, fmt.Sprintf("%d × %d pixels, more than %d million", width, height, mostPixels/1_000_000)}
	}
	p := Picture{Path: path, Image: parley.Image{MIME: mime, Data: data}, Width: width, Height: height}
	if mime == "image/bmp" || max(width, height) > longestSide {
		select {
		case c.r.decode <- struct{}{}:
		case <-c.ctx.Done():
			return Picture{}, errGone
		}
		p.Image, p.Width, p.Height, err = remake(mime, data, c.r.o.MaxImage)
		<-c.r.decode
		if err != nil {
			return Picture{}, &fault{parley.CodeUnsupportedFile, "a picture that cannot be converted"}
		}
	}
	sum := sha256.Sum256(p.Image.Data)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, nil
}

// sniff tells a picture's kind from its first bytes, or nothing.
func sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	case len(head) >= 26 && string(head[:2]) == "BM" && string(head[6:10]) == "\x00\x00\x00\x00" && head[15] == 0 && head[16] == 0:
		return "image/bmp"
	}
	return ""
}

// parseDataURL reads data:image/png;base64,….
func parseDataURL(url string, limit int64) (data []byte, mime string, bad *fault) {
	head, body, ok := strings.Cut(url[len("data:"):], ",")
	declared, rest, _ := strings.Cut(strings.ToLower(head), ";")
	if !ok || len(head) > 200 || rest != "base64" && !strings.HasSuffix(rest, ";base64") {
		return nil, "", &fault{parley.CodeInvalidArgument, "not of the form data:image/png;base64,…"}
	}
	switch declared {
	case "image/jpg", "image/pjpeg":
		declared = "image/jpeg"
	case "image/x-ms-bmp", "image/x-bmp":
		declared = "image/bmp"
	case "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp":
	default:
		return nil, "", &fault{parley.CodeUnsupportedFile, "its type is none of jpeg, png, gif, webp and bmp"}
	}
	if bad := tooLarge(int64(len(body))/4*3-2, limit); bad != nil {
		return nil, "", bad
	}
	body = strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(body)
	data, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(body, "="))
	if err != nil {
		return nil, "", &fault{parley.CodeInvalidArgument, "its base64 is damaged"}
	}
	if bad := tooLarge(int64(len(data)), limit); bad != nil {
		return nil, "", bad
	}
	if got := sniff(data); got != declared {
		return nil, "", &fault{parley.CodeUnsupportedFile, "its content is not " + declared}
	}
	return data, declared, nil
}

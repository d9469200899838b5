//go:build !linux

package files

import "os"

func virtual(*os.File) bool { return false }

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	fileMode   = 0o600
	folderMode = 0o700

	databaseName = "parley.db"
	migrateName  = "migrate.lock"
	ownersName   = "owners"
)

// prepareHome makes the folder if it is missing. A folder that was there
// before is somebody's: its mode is changed only if it is empty or holds a store, which
// makes it ours, and never if it is a shared one like /tmp. Everything in it is
// closed to others either way.
func prepareHome(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return makeFolder(dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open folder", Path: dir, Err: syscall.ENOTDIR}
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName)); err != nil && !empty(dir) {
		return nil // no store yet, and something else in it: not our folder
	}
	if info.Mode().Perm()&0o077 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	// It may belong to another user, who then decides.
	if err := os.Chmod(dir, folderMode); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func empty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// makeFolder makes a folder and its parents, private whatever the umask says.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return err
	}
	return os.Chmod(dir, folderMode)
}

// createPrivate opens a new or existing file of our own, readable by nobody
// else whatever the umask says.
func createPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(fileMode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// protect closes the store's files to others. It works by name: opening and
// closing the file ourselves would drop the locks that SQLite holds on it for
// another store in this process.
func protect(database string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(database + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(database+suffix, fileMode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

package main

import "golang.org/x/sys/unix"

// networkFileSystem names the kind of network file system that dir is on;
// empty if it is a local one.
func networkFileSystem(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x01021997:
		return "9P"
	case unix.AFS_SUPER_MAGIC:
		return "AFS"
	}
	return ""
}

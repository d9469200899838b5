package files

import (
	"os"
	"syscall"
)

// virtual tells whether a file is one the kernel makes up, as in /proc: there a
// regular file may hold another process's environment, and may never end.
func virtual(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var st syscall.Statfs_t
	var statErr error
	if err := conn.Control(func(fd uintptr) { statErr = syscall.Fstatfs(int(fd), &st) }); err != nil {
		return true
	}
	if statErr != nil {
		return false
	}
	switch uint32(st.Type) {
	case 0x9fa0, // proc
		0x62656572, // sysfs
		0x64626720, // debugfs
		0x74726163, // tracefs
		0x73636673, // securityfs
		0x27e0eb,   // cgroup
		0x63677270, // cgroup2
		0xf97cff8c, // selinux
		0xcafe4a11, // bpf
		0x19800202, // mqueue
		0x62656570, // configfs
		0x1cd1:     // devpts
		return true
	}
	return false
}

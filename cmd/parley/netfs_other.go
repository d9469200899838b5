//go:build !linux

package main

// networkFileSystem is only known on Linux.
func networkFileSystem(string) string { return "" }

// Package session is a run of package recall as a user watches it: live, bless, the embedded server, and the comparison
// of two servers or of two run folders, each with its terminal, ledger, report, and how it is resumed.
package session

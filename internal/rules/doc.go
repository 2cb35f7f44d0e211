// Package rules holds what this repository promises about itself, as functions over data: which room may import which,
// that public packages name no internal type and say what to call first, how files are named and how long they may be,
// that every variable is documented, that no golden is orphaned.
//
// The tests run each rule twice: on the repository, and on planted violations, so that a rule that can no longer fail
// is itself a failure. It does not judge style; the linters do.
package rules

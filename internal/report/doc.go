// Package report turns the plain record of one run into what people and CI read:
// aligned lines and a heat map on the terminal, live progress, one self-contained
// report.html, a junit.xml, ten lines for an incident channel (incident.txt) and the
// Markdown summary of a GitHub job.
//
// Claimed: every text that a server, a model or a user supplied is neutralised for
// the medium it goes to (control and bidirectional characters on a terminal, markup
// in HTML and Markdown, characters that XML 1.0 forbids in JUnit); files appear whole
// or not at all; a secret given to Redact reaches none of them; the HTML page needs no
// script and no network, follows light and dark, fits a window of 360 px and can be
// read by keyboard (tested in headless Chromium: go test ./internal/report -args
// -browser=required fails where there is none).
//
// Not claimed: that the numbers are right. The package computes no interval, no
// class and no verdict; it prints what it is given. Secrets it was not told about
// are printed like any other text.
package report

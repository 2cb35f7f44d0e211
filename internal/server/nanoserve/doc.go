// Package nanoserve is the command nanoserve without its process: flags, engine, weights, fault, listener.
//
// Claimed: one line on stdout, the base URL, once requests are answered; everything else goes to
// stderr. Exit codes are those of the project: 0 stopped in good order, 2 usage, 4 cannot listen,
// 5 the weights or the server failed.
package nanoserve

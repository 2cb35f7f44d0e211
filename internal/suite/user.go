package suite

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// BaseURL is the server that a job asks. does says what the job does to it, for the error when none is named.
func BaseURL(job, does string) (string, error) {
	if v, set := Value("OPENAI_BASE_URL"); set {
		return v, nil
	}
	if v, set := Value("OPENAI_API_BASE"); set {
		fmt.Fprintln(os.Stderr, "notice: OPENAI_API_BASE is a legacy name, set OPENAI_BASE_URL")
		return v, nil
	}
	return "", fmt.Errorf("OPENAI_BASE_URL is not set: `%s` %s your server and has no default. Try "+
		"OPENAI_BASE_URL=http://127.0.0.1:30000 go tool mage %s", job, does, job)
}

// Agree asks the user once, on a terminal only: a script has nobody to ask and has said what it wants. It is nil where
// nobody is to be asked.
func Agree() func(question string) bool {
	if Yes() || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return func(question string) bool {
		fmt.Printf("%s [y/N] ", question)
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		return err == nil && (answer == "y" || answer == "yes")
	}
}

// Shown is a path as the user reads it: from the root of this module where it lies inside.
func Shown(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(ModuleRoot(wd), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

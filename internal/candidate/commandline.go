package candidate

import (
	"fmt"
	"regexp"
	"strings"
)

// command is a parsed command line.
type command struct {
	env, argv []string
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// parse splits a command line into words: white space separates, single and double quotes keep together, a backslash
// takes the next character as it is (inside double quotes only " and \). Leading NAME=value words go to the
// environment. There is no shell: what only a shell could do is refused and not passed on as an argument.
func parse(line string) (command, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	rest := []rune(line)
	for i := 0; i < len(rest); i++ {
		r := rest[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(rest) && (quote == 0 || rest[i+1] == '"' || rest[i+1] == '\\'):
			i++
			word.WriteRune(rest[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == '\'' || quote == '"' && r != '$' && r != '`':
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune("|&;<>$`", r):
			return command{}, fmt.Errorf("the command line %q has an unquoted %q, and no shell reads it; write sh -c '...' "+
				"around it", line, r)
		case strings.ContainsRune(" \t\r\n", r):
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return command{}, fmt.Errorf("the command line %q opens a quote %q and does not close it", line, quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	c := command{argv: words}
	for len(c.argv) > 0 && assignment.MatchString(c.argv[0]) {
		c.env, c.argv = append(c.env, c.argv[0]), c.argv[1:]
	}
	if len(c.argv) == 0 {
		return command{}, fmt.Errorf("the command line %q names no program; give one, as in python3 my_worker.py", line)
	}
	return c, nil
}

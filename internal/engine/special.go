package engine

// special is the class of a token that is no text. Its value is also the byte that stands for it in what the reader
// sees.
type special byte

const (
	spHole      special = 0x00 // a row that cannot be seen
	spBOS       special = 0x01
	spEOS       special = 0x02
	spStart     special = 0x03 // begins a turn whose role follows as text
	spHead      special = 0x04 // ends the role, where that is a token
	spEnd       special = 0x05 // ends a turn
	spUser      special = 0x06
	spAssistant special = 0x07
	spThink     special = 0x0e
	spThinkEnd  special = 0x0f
	spCall      special = 0x10
	spCallEnd   special = 0x11
	spToolOut   special = 0x12
	spToolEnd   special = 0x13
	spImage     special = 0x14 // followed by a colour in the reader's view
	spPad       special = 0x15
)

// order of the special ids behind the vocabulary.
var specialOrder = []special{
	spBOS, spEOS, spStart, spHead, spEnd, spUser, spAssistant, spThink, spThinkEnd, spCall, spCallEnd, spToolOut,
	spToolEnd, spPad,
}

// colours that a picture can have; each has its own token behind the special ones.
var colours = []string{
	"red", "green", "blue", "yellow", "white", "black", "grey", "orange", "purple", "pink",
	"brown",
}

// lexicon is a vocabulary with the special tokens of a model family.
type lexicon struct {
	*vocab
	base  int32              // first special id
	names map[special]string // as the server prints them
	view  []string           // by id: what the reader sees of a token
	size  int
}

func newLexicon(v *vocab, names map[special]string) *lexicon {
	l := &lexicon{vocab: v, base: int32(len(v.text)), names: names}
	l.view = make([]string, 0, len(v.text)+len(specialOrder)+len(colours))
	for _, s := range v.text {
		if len(s) == 1 && s[0] < ' ' && s[0] != '\n' && s[0] != '\t' {
			s = "?" // a control character in a message must not look like a special token
		}
		l.view = append(l.view, s)
	}
	for _, s := range specialOrder {
		l.view = append(l.view, string([]byte{byte(s)}))
	}
	for _, c := range colours {
		l.view = append(l.view, string([]byte{byte(spImage)})+c+" ")
	}
	l.size = len(l.view)
	return l
}

func (l *lexicon) id(s special) int32 {
	for i, o := range specialOrder {
		if o == s {
			return l.base + int32(i)
		}
	}
	return l.base
}

func (l *lexicon) image(colour int) int32 { return l.base + int32(len(specialOrder)+colour) }

// class returns the special class of an id, spHole for ordinary ones.
func (l *lexicon) class(id int32) special {
	k := int(id - l.base)
	switch {
	case k < 0 || int(id) >= l.size:
		return spHole
	case k < len(specialOrder):
		return specialOrder[k]
	}
	return spImage
}

// print returns the bytes of a token as the server would write them.
func (l *lexicon) print(id int32) string {
	switch {
	case id < 0 || int(id) >= l.size:
		return ""
	case id < l.base:
		return l.text[id]
	}
	return l.names[l.class(id)]
}

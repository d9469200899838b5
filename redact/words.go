package redact

// words finds many words in one pass over a text (Aho and Corasick), without
// regard to ASCII case.
type words struct {
	class   [256]uint8 // byte to column; 0 is every byte in no word
	columns int
	next    []int32   // state × column
	ends    [][]int32 // the words that end in a state
}

func newWords(list []string) *words {
	w := &words{columns: 1}
	for _, word := range list {
		for i := range len(word) {
			if c := lower(word[i]); w.class[c] == 0 {
				w.class[c] = uint8(w.columns)
				w.columns++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		w.class[c] = w.class[lower(c)]
	}
	w.grow()
	for id, word := range list {
		state := int32(0)
		for i := range len(word) {
			at := int(state)*w.columns + int(w.class[word[i]])
			if w.next[at] == 0 {
				w.next[at] = w.grow()
			}
			state = w.next[at]
		}
		w.ends[state] = append(w.ends[state], int32(id))
	}
	w.link()
	return w
}

func (w *words) grow() int32 {
	w.next = append(w.next, make([]int32, w.columns)...)
	w.ends = append(w.ends, nil)
	return int32(len(w.ends) - 1)
}

// link turns the tree into an automaton: where a state has no branch it goes
// where the longest shorter word would.
func (w *words) link() {
	fail := make([]int32, len(w.ends))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range w.columns {
			at := int(state)*w.columns + c
			child := w.next[at]
			back := int32(0)
			if state != 0 {
				back = w.next[int(fail[state])*w.columns+c]
			}
			if child == 0 {
				w.next[at] = back
				continue
			}
			fail[child] = back
			w.ends[child] = append(w.ends[child], w.ends[back]...)
			queue = append(queue, child)
		}
	}
}

// each calls yield with every occurrence of every word and the offset after
// it, until yield returns false.
func (w *words) each(text string, yield func(word, end int) bool) {
	state := int32(0)
	for i := range len(text) {
		state = w.next[int(state)*w.columns+int(w.class[text[i]])]
		for _, id := range w.ends[state] {
			if !yield(int(id), i+1) {
				return
			}
		}
	}
}

// in tells whether any of the words occurs in text.
func (w *words) in(text string) bool {
	found := false
	w.each(text, func(int, int) bool { found = true; return false })
	return found
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

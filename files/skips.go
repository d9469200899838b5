package files

// skips collects what was not read. Of each reason a number are named, the rest
// are counted.
type skips struct {
	named  []Skip
	counts map[string]int
	order  []string
	total  int
}

// mostSkips is how many are named for one reason.
const mostSkips = 25

func (s *skips) add(path, why string) {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	if s.counts[why] == 0 {
		s.order = append(s.order, why)
	}
	s.counts[why]++
	s.total++
	if s.counts[why] <= mostSkips {
		s.named = append(s.named, Skip{Path: path, Why: why, Count: 1})
	}
}

// all returns the skips, those with one reason together.
func (s *skips) all() []Skip {
	var out []Skip
	for _, why := range s.order {
		for _, skip := range s.named {
			if skip.Why == why {
				out = append(out, skip)
			}
		}
		if more := s.counts[why] - mostSkips; more > 0 {
			out = append(out, Skip{Why: why, Count: more})
		}
	}
	return out
}

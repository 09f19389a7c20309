package secrets

// classNames has the classes of bodies. The position of a class is its number.
const classNames = "9hHaALUwbp"

// Numbers of classes that the scanner uses itself.
const (
	classBase64URL = 7               // 'w'
	classBare      = len(classNames) // bytes of values without quotes; no class of bodies
	classCount     = len(classNames) + 1
)

// classSets are the bytes of the classes, by number.
var classSets = func() (sets [classCount]*byteSet) {
	for i := range classNames {
		sets[i] = byteSets[classNames[i]]
	}
	sets[classBare] = new(byteSet)
	for b := ' ' + 1; b < 256; b++ {
		sets[classBare][b] = !valueEnds[b]
	}
	return sets
}()

// classRuns finds the ends of sequences of bytes of a class. It remembers the last sequence of each class,
// so that a text in which many credentials may begin inside of one sequence is read once for each class.
type classRuns struct {
	text string
	last [classCount]struct{ from, to int } // all bytes between them are in the class
}

// end returns the end of the bytes of a class that begin at i, at most limit bytes later.
func (r *classRuns) end(class, i, limit int) int {
	run, set := &r.last[class], classSets[class]
	if i < run.from || i > run.to {
		run.from, run.to = i, i
	}
	stop := min(len(r.text), i+limit)
	for run.to < stop && set[r.text[run.to]] {
		run.to++
	}
	return min(run.to, stop)
}

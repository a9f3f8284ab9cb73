package cells

import "fmt"

// Place is a line of a cell.
type Place struct{ Cell, Line int }

// String returns the place in the words of messages: cell [3], line 2.
func (p Place) String() string { return fmt.Sprintf("cell [%d], line %d", p.Cell, p.Line) }

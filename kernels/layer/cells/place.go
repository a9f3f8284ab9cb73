package cells

import "fmt"

// Place is a line of a cell.
type Place struct{ Cell, Line int }

func (p Place) String() string { return fmt.Sprintf("cell [%d], line %d", p.Cell, p.Line) }

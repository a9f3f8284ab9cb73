package layer

import "fmt"

// place is a line of a cell.
type place struct{ cell, line int }

func (p place) String() string { return fmt.Sprintf("cell [%d], line %d", p.cell, p.line) }

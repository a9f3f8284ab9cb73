package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// table reads the cells of a file. The memory for a page and for a dictionary is used again for the next ones.
type table struct {
	contents   []byte
	codecs     codecs
	page       []byte
	dictionary []byte
	entries    [][]byte // of the dictionary
	read       int64    // number of bytes of all pages so far, without compression
	texts      int64    // number of bytes of all texts so far, without those that a chunk repeats
}

// cells reads the cells of a chunk: of a column in a row group.
type cells struct {
	*table
	column
	codec format.CompressionCodec
	text  func(value []byte) (string, error)
}

// readChunk reads exactly one cell of a column for each row of a row group. A null becomes an empty cell.
func (t *table) readChunk(c column, from *chunk, rows [][]string, at int) error {
	data, err := t.pagesOf(from)
	if err != nil {
		return err
	}
	t.entries = t.entries[:0]
	r := cells{table: t, column: c, codec: from.Place.V.Codec, text: t.textOf(c)}
	for done := 0; done < len(rows); {
		if len(data) == 0 {
			return fmt.Errorf("ends after %d of %d rows", done, len(rows))
		}
		var p page
		if p, data, err = t.next(data); err != nil {
			return err
		}
		switch n := p.values(); {
		case p.Type == format.DictionaryPage:
			err = r.readDictionary(p)
		case n > len(rows)-done:
			err = fmt.Errorf("has more values than %d rows", len(rows))
		case n > 0:
			err = r.readPage(p, rows[done:done+n], at)
			done += n
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pagesOf returns the bytes of the pages of a chunk.
func (t *table) pagesOf(c *chunk) ([]byte, error) {
	switch {
	case c.Encrypted != nil:
		return nil, errEncrypted
	case c.File != "":
		return nil, errors.New("is in another file: save the table in one file")
	case !c.Place.Valid:
		return nil, errors.New("has no place in the file")
	}
	p := c.Place.V
	start := p.Data
	if p.Dictionary > 0 {
		start = min(start, p.Dictionary)
	}
	if n := int64(len(t.contents)); start < 0 || start > n || p.Size < 0 || p.Size > n-start {
		return nil, fmt.Errorf("should have %d bytes from byte %d on, in a file of %d bytes", p.Size, start, n)
	}
	return t.contents[start : start+p.Size], nil
}

// page is a page as it is in a file.
type page struct {
	format.PageHeader
	body []byte
}

// next returns the page at the start of data, and the bytes after it. All its sizes have been checked.
func (t *table) next(data []byte) (p page, rest []byte, err error) {
	head, err := decode(data[:min(len(data), mostHeader)], &p.PageHeader)
	if err != nil {
		return p, nil, fmt.Errorf("the header of a page is damaged: %w", err)
	}
	data = data[head:]
	packed, size, n := int(p.CompressedPageSize), int(p.UncompressedPageSize), p.values()
	switch {
	case packed < 0 || packed > len(data):
		return p, nil, fmt.Errorf("a page declares %d bytes, but %d are left", packed, len(data))
	case size < 0 || max(size, packed) > mostPage:
		return p, nil, fmt.Errorf("a page of %d bytes, compressed %d, but at most %d are allowed", size, packed, mostPage)
	case n < 0 || n > sheet.MostCells:
		return p, nil, fmt.Errorf("a page of %d values, but at most %d are allowed", n, sheet.MostCells)
	}
	if t.read += int64(head + max(size, 100)); t.read > mostRead { // an empty page takes time too
		return p, nil, fmt.Errorf("the pages of the file have more than %d bytes without compression: "+
			"use fewer rows or columns", int64(mostRead))
	}
	p.body, rest = data[:packed], data[packed:]
	return p, rest, nil
}

// values returns the number of values of a page, nulls included.
func (p *page) values() int {
	switch p.Type {
	case format.DataPage:
		return int(p.DataPageHeader.V.NumValues)
	case format.DataPageV2:
		return int(p.DataPageHeaderV2.V.NumValues)
	case format.DictionaryPage:
		return int(p.DictionaryPageHeader.V.NumValues)
	}
	return 0 // the page is an index, which is not needed
}

// readDictionary reads the values of a dictionary.
func (c *cells) readDictionary(p page) error {
	h := p.DictionaryPageHeader.V
	if h.Encoding != format.Plain && h.Encoding != oldDictionary || c.Type.V == format.Boolean {
		return fmt.Errorf("a dictionary of type %v with the encoding %v cannot be read", c.Type.V, h.Encoding)
	}
	data, err := c.decompress(&c.dictionary, int(p.UncompressedPageSize), p.body)
	if err != nil {
		return err
	}
	next := plain(c.Type.V, data)
	c.entries = c.entries[:0]
	for range h.NumValues {
		value, err := next()
		if err != nil {
			return err
		}
		c.entries = append(c.entries, value)
	}
	return nil
}

// decompress returns the size bytes that are compressed in data, in room if they are compressed.
func (c *cells) decompress(room *[]byte, size int, data []byte) ([]byte, error) {
	if c.codec == format.Uncompressed || size == 0 && len(data) == 0 {
		return data, nil
	}
	if size > cap(*room) {
		*room = make([]byte, size)
	}
	return (*room)[:size], c.codecs.decompress(c.codec, (*room)[:size], data)
}

// readPage reads the cells of rows, which are all cells of a page.
func (c *cells) readPage(p page, rows [][]string, at int) error {
	levels, data, encoding, err := c.open(p)
	if err != nil {
		return err
	}
	next, err := sourceOf(encoding, c.Type.V, data, len(rows), c.entries)
	if err != nil {
		return err
	}
	present := runs{data: levels, width: 1}
	for _, row := range rows {
		if c.isOptional() {
			switch level, err := present.next(); {
			case err != nil:
				return err
			case level == 0:
				continue
			}
		}
		value, err := next()
		if err != nil {
			return err
		}
		if row[at], err = c.text(value); err != nil {
			return err
		}
	}
	return nil
}

// open splits a page into the levels, which are 0 for a null and 1 for a value, and the values that are not null. A
// page has levels only if its column may have nulls.
func (c *cells) open(p page) (levels, data []byte, e format.Encoding, err error) {
	size := int(p.UncompressedPageSize)
	if p.Type == format.DataPage {
		h := p.DataPageHeader.V
		if data, err = c.decompress(&c.page, size, p.body); err != nil || !c.isOptional() {
			return nil, data, h.Encoding, err
		}
		if h.DefinitionLevelEncoding != format.RLE {
			return nil, nil, 0, fmt.Errorf("a page has nulls with the encoding %v, which cannot be read",
				h.DefinitionLevelEncoding)
		}
		levels, data, err = prefixed(data)
		return levels, data, h.Encoding, err
	}
	h := p.DataPageHeaderV2.V
	repeated, defined := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
	if repeated < 0 || defined < 0 || repeated+defined > min(len(p.body), size) {
		return nil, nil, 0, fmt.Errorf("a page of %d bytes has levels of %d and %d bytes", size, repeated, defined)
	}
	levels, data = p.body[repeated:repeated+defined], p.body[repeated+defined:]
	if h.IsCompressed.V || !h.IsCompressed.Valid {
		data, err = c.decompress(&c.page, size-repeated-defined, data)
	}
	return levels, data, h.Encoding, err
}

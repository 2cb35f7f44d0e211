package bench

// Bytes are a storage's elements as they lie in memory, little-endian; an error names a dtype that has no such form.
func (s Storage) Bytes() ([]byte, error) { return encode(s.DType, s.Data) }

// StorageOf reads elements of a dtype.
func StorageOf(dtype string, raw []byte) (Storage, error) {
	data, err := decode(dtype, raw)
	return Storage{dtype, data}, err
}

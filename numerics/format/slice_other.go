//go:build !amd64 || purego

package format

func decode8(dst []float32, raw []byte, w *wide8)  { decode8Go(dst, raw, w) }
func decode16(dst []float32, raw []byte)           { decode16Go(dst, raw) }
func encode8(dst []byte, x []float32, k *narrow)   { encode8Go(dst, x, k) }
func encode16(dst []byte, x []float32, nan uint32) { encode16Go(dst, x, nan) }

package oracle

// GroupedProjection is the first half of V4's output projection: the heads are split into G groups
// and each group is projected on its own.
//
//	u[g] = wo_a[g] o[g]
//
// o [T, H·D]; woA [G·R, H·D/G], group-major; result [T, G·R]. The second half is Linear with wo_b.
//
// Source: V4 inference/model.py, o_groups and o_lora_rank.
func GroupedProjection(o, woA Mat, groups int) Mat {
	rank, width := woA.Rows/groups, o.Cols/groups
	out := NewMat(o.Rows, woA.Rows)
	for g := range groups {
		part := NewMat(o.Rows, width)
		for t := range o.Rows {
			copy(part.Row(t), o.Row(t)[g*width:(g+1)*width])
		}
		u := Linear(part, woA.Slice(g*rank, (g+1)*rank))
		for t := range o.Rows {
			copy(out.Row(t)[g*rank:(g+1)*rank], u.Row(t))
		}
	}
	return out
}

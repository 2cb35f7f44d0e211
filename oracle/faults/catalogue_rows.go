package faults

// Catalogue lists public kernel, quantisation and cache bugs, each reduced to one fault. The class of a row was set
// from the report, before any verdict was tuned: the kill matrix compares what the diagnosis names with it.
func Catalogue() []Row {
	return []Row{
		T1, T2, T3, T6, T7, T8, T9, T10, S1, S2, S3, S4, S5, S7, S9, S10, S11, S12, S13, M1, M2, M4, M6, G1, G2, G3,
		G4, G6, G7, G9, G10, G11, G12, G14, Q1, Q2, Q3, Q5, Q6, Q7, Q8, Q10, Q12, Q13, Q14, Q15, Q17, Q18, Q19, Q21,
		A1, A2, A4, A6, A7, H1, H3, H4, R1, R2, R3, R5, R6, P2, N1, N2, N3, N4, N5, N7, N8, L1, L3, V1, V3, V4,
	}
}

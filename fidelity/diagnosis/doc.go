// Package diagnosis reads the evidence of a run (fidelity/evidence) and says which class of fault it fits, how sure
// that is, which other classes are left, and which one flag of SGLang, vLLM or llama.cpp to flip next.
//
// Claimed: a report is a function of the evidence; every finding has its evidence lines; a class is named by a model
// that explains which lone answers are lost 20,000 times better than any sound server and 1,000 times better than the
// next class, by contrasts of arms that chance gives in one run of ten thousand (an arm of eight all right beside one
// of eight all wrong is the least that does), or by counts of tokens and proofs by content, which have no chance in
// them; two classes that the evidence does not split are "ambiguous: A or B", and what was not asked is "unmeasured".
//
// Not claimed: that a kind that nobody thought of is named rightly: docs/diagnosis.md says how often it was. Nor a
// component. A class says what is seen from outside; several parts of an engine can look alike there, so that a flag to
// flip is given and no name. Nor that a class outside the table cannot exist.
package diagnosis

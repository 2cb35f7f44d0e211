// Package gate decides whether a server lost recall or margin against its golden. Everything here is a function of
// values: nothing is sent, read or written.
//
// Bless turns four repeats of every cell into a Golden or says why not. Decide compares outcomes with it and answers
// regressed, held, inconclusive, or undecided with the cells to run next; call it again when all of those were tried.
//
// # The rules
//
// Repeats 1 to 3 choose the stable cells and judge recall floor and share of unstable cells; repeat 4 is the baseline
// that is paired with. Were the baseline one of the choosing repeats, cells would be chosen for being lucky in it, and
// an unchanged server would look worse. For the same reason no refusal looks at repeat 4.
//
// Every family of cells has a recall test (one-sided exact McNemar) and, where the golden has margins, a margin test
// (one-sided paired permutation of baseline minus now). All of a run's tests are corrected together after Holm at
// Policy.Alpha. A test regresses only beyond a practical margin as well.
//
// # Adding cells keeps alpha
//
// A family is looked at after stages of cells whose sizes are declared before anything is sent. With K stages look k
// has the weight w(k) = 2^-k, the last one 2^-(K-1), so that they sum to 1. After k looks the family's p-value is
//
//	q(k) = min over j <= k of p(j) / w(j)
//
// with p(j) the exact p over all cells of stages 1 to j. Whatever made the planner go on or stop, q(k) is at least
// Q = min over all K looks of p(j)/w(j), taken over the cells that were run and those that would have been; and
// P(Q <= u) <= sum P(p(j) <= u w(j)) <= sum u w(j) = u. So q(k) is a p-value under any rule of going on, this family's
// losses and other families' included, and Holm takes it as it takes any other. The price of a look is one more lost
// cell per halving: McNemar's p of losses alone is 2^-losses.
//
// # Not claimed
//
// The false alarm rate is one over blessings and runs together: a golden whose baseline was lucky alarms more often
// than the average golden of the same server, run after run. Pairs are taken as independent between cells; a drift that
// moves all cells of a run together is what the practical margin on margins, three times the difference between
// repeats at bless, is for. Held means that no regression was shown; each result says how large a drop would have been.
package gate

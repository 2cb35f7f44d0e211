package engine

const frozenHalf uint64 = 0

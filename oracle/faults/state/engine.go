package state

func engineModels() []Model { return nil }

package checkpoint

import "context"

func (p *patient) againstBase(ctx context.Context, o Options) error { return nil }

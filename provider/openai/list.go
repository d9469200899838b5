package openai

import (
	"context"

	"github.com/openai/openai-go/v3/option"

	"parley/provider/wire"
)

// maxListed bounds a list of models; gateways offer hundreds.
const maxListed = 10_000

// Models asks the endpoint which models it offers. It costs nothing, and shows
// whether the key is good.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if err := p.endpoint.Usable(""); err != nil {
		return nil, err
	}
	asking, record := wire.WithRecord(ctx)
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if _, err := p.models.List(asking, option.WithResponseBodyInto(&list)); err != nil {
		return nil, p.endpoint.Failed(ctx, "", record, err)
	}
	var names []string
	for _, m := range list.Data[:min(len(list.Data), maxListed)] {
		names = append(names, m.ID)
	}
	return names, nil
}

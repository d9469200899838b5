package fakeai

// listModels is OpenAI's shape, which everything compatible shares, unless the
// request came as only Anthropic's or Google's client would send it.
func listModels(w *wire, names []string) []byte {
	switch w {
	case anthropicWire:
		return listAnthropic(names)
	case geminiWire:
		return listGemini(names)
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: []model{}}
	for _, name := range names {
		list.Data = append(list.Data, model{ID: name, Object: "model", Created: 1700000000, OwnedBy: "fakeai"})
	}
	return mustJSON(list)
}

func listAnthropic(names []string) []byte {
	type model struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	list := struct {
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
		FirstID *string `json:"first_id"`
		LastID  *string `json:"last_id"`
	}{Data: []model{}}
	for _, name := range names {
		list.Data = append(list.Data, model{Type: "model", ID: name, DisplayName: name, CreatedAt: "2025-01-01T00:00:00Z"})
	}
	if len(names) > 0 {
		list.FirstID, list.LastID = &names[0], &names[len(names)-1]
	}
	return mustJSON(list)
}

func listGemini(names []string) []byte {
	type model struct {
		Name        string   `json:"name"`
		DisplayName string   `json:"displayName"`
		InputLimit  int      `json:"inputTokenLimit"`
		OutputLimit int      `json:"outputTokenLimit"`
		Methods     []string `json:"supportedGenerationMethods"`
	}
	list := struct {
		Models []model `json:"models"`
	}{Models: []model{}}
	for _, name := range names {
		list.Models = append(list.Models, model{
			Name: "models/" + name, DisplayName: name, InputLimit: 1 << 20, OutputLimit: 1 << 16,
			Methods: []string{"generateContent", "countTokens"},
		})
	}
	return mustJSON(list)
}

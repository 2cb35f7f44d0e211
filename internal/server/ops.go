package server

import (
	"net/http"
)

type modelCard struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len"`
}

type modelList struct {
	Object string      `json:"object"`
	Data   []modelCard `json:"data"`
}

func (s *Server) card() modelCard {
	return modelCard{
		ID:          s.cfg.Model,
		Object:      "model",
		Created:     s.started.Unix(),
		OwnedBy:     "assay",
		MaxModelLen: s.engine.MaxModelLen(),
	}
}

// models is GET /v1/models.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, modelList{Object: "list", Data: []modelCard{s.card()}})
}

// model is GET /v1/models/{id}.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	if e := s.checkModel(r.PathValue("id")); e != nil {
		writeError(w, e)
		return
	}
	writeJSON(w, http.StatusOK, s.card())
}

// health is GET /health: the model is loaded before the server exists, so an answer is good news.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// version is GET /version.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": s.cfg.Version, "server": "nanoserve"})
}

// flush is POST /flush_cache and POST /reset_prefix_cache. Unlike SGLang it also works while requests
// run: what they compute is then not kept.
func (s *Server) flush(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"success": true, "flushed": s.cache.flush()})
}

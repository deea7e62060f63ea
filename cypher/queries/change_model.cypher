// Put the new embeddings and their model in force
MATCH (g:GraphMem {name: 'graphmem'})
SET g.slot = $slot, g.model_id = $model_id, g.dimension = $dimension, g.reindex = null

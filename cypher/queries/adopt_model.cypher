// Take the first writer's embedding model as the store's
MATCH (g:GraphMem {name: 'graphmem'})
SET g.changes = g.changes + 1
WITH g
SET g.model_id = coalesce(g.model_id, $model_id), g.dimension = coalesce(g.dimension, $dimension)
RETURN g.model_id AS model_id, g.dimension AS dimension

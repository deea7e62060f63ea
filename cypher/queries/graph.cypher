// Schema version and embedding model of the store
MATCH (g:GraphMem {name: 'graphmem'})
RETURN g.schema_version AS schema_version, g.model_id AS model_id, g.dimension AS dimension,
       g.slot AS slot

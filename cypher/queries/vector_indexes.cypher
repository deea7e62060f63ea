// The store's vector indexes: their dimensions, and whether they can filter by namespace
SHOW VECTOR INDEXES YIELD name, state, properties, options
WHERE name IN ['note_embedding', 'note_embedding_alt']
RETURN name, state, options.indexConfig['vector.dimensions'] AS dimension,
       'namespace' IN properties AS filtered

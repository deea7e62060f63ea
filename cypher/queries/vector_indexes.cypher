// The store's vector indexes and their dimensions
SHOW VECTOR INDEXES YIELD name, state, options
WHERE name IN ['note_embedding', 'note_embedding_alt']
RETURN name, state, options.indexConfig['vector.dimensions'] AS dimension

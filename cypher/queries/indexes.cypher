// Indexes and constraints there are, with what can be told of vector indexes
SHOW INDEXES YIELD name, type, state, properties, options
RETURN name, state, options.indexConfig['vector.dimensions'] AS dimension,
       'namespace' IN properties AS filtered

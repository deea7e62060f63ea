// The node that holds the schema version and the embedding model
MERGE (g:GraphMem {name: 'graphmem'})
ON CREATE SET g.schema_version = $schema_version, g.slot = 'embedding', g.changes = 0
RETURN g.schema_version AS schema_version

// Record that a migration is done
MATCH (g:GraphMem {name: 'graphmem'})
SET g.schema_version =
  CASE WHEN g.schema_version < $schema_version THEN $schema_version ELSE g.schema_version END
RETURN g.schema_version AS schema_version

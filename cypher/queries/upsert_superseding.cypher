// Store SUPERSEDES links, each from a note to the older one it contradicts
UNWIND $rows AS row
MATCH (newer:Note {namespace: $namespace, id: row.from_id})
MATCH (older:Note {namespace: $namespace, id: row.to_id})
MERGE (newer)-[r:SUPERSEDES {namespace: $namespace, pair: row.pair}]->(older)
SET r += row.properties, r.created_at = datetime(row.times.created_at)
RETURN count(*) AS done

// Store RELATED links, each once from the smaller to the greater id
UNWIND $rows AS row
MATCH (a:Note {namespace: $namespace, id: row.from_id})
MATCH (b:Note {namespace: $namespace, id: row.to_id})
MERGE (a)-[r:RELATED {namespace: $namespace, pair: row.pair}]->(b)
SET r += row.properties,
    r.created_at = datetime(row.times.created_at),
    r.last_retrieved_at = datetime(row.times.last_retrieved_at),
    r.strength =
      CASE
        WHEN row.properties.weight >= 0.85 THEN 'strong'
        WHEN row.properties.weight >= 0.72 THEN 'medium'
        ELSE 'weak'
      END
RETURN count(*) AS done

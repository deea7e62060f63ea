// Store RELATED links, each once from the smaller to the greater id
UNWIND $rows AS row
MATCH (a:Note {namespace: $namespace, id: row.from_id})
MATCH (b:Note {namespace: $namespace, id: row.to_id})
MERGE (a)-[r:RELATED {namespace: $namespace, pair: row.pair}]->(b)
SET r += row.properties,
    r.strength =
      CASE
        WHEN row.properties.weight >= 0.85 THEN 'strong'
        WHEN row.properties.weight >= 0.72 THEN 'medium'
        ELSE 'weak'
      END
RETURN row.pair AS pair

// Store RELATED links that cannot be there yet: an end of each is new
UNWIND range(0, size($ids) - 1) AS place
MATCH (n:Note {namespace: $namespace, id: $ids[place]})
WITH place, n ORDER BY place
WITH collect(n) AS ends
WHERE size(ends) = size($ids)
UNWIND $rows AS row
WITH row, row.properties AS given, ends[row.ends[0]] AS a, ends[row.ends[1]] AS b
CREATE (a)-[:RELATED {
  namespace: $namespace,
  pair: row.pair,
  weight: given.weight,
  cosine: given.cosine,
  created_at: datetime(row.times.created_at),
  retrievals: given.retrievals,
  last_retrieved_at: datetime(row.times.last_retrieved_at),
  strength:
    CASE
      WHEN given.weight >= 0.85 THEN 'strong'
      WHEN given.weight >= 0.72 THEN 'medium'
      ELSE 'weak'
    END
}]->(b)
RETURN count(*) AS done

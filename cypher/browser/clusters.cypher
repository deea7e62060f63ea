// Clusters and their centres
// A centre has at least two links and no neighbour with more. From each centre two steps.
WITH 'default' AS namespace
MATCH (centre:Note {namespace: namespace})
WHERE NOT centre.archived
WITH centre, COUNT { (centre)-[:RELATED]-() } AS degree
WHERE degree > 1
  AND NOT EXISTS {
    MATCH (centre)-[:RELATED]-(other:Note)
    WITH other, degree, COUNT { (other)-[:RELATED]-() } AS others
    WHERE others > degree OR others = degree AND other.id < centre.id
  }
WITH centre
ORDER BY degree DESC, centre.id
LIMIT 8
CALL (centre) {
  MATCH (centre)-[r:RELATED]-(near:Note)
  WHERE NOT near.archived
  WITH r, near
  ORDER BY r.weight DESC, near.id
  LIMIT 8
  OPTIONAL MATCH (near)-[s:RELATED]-(far:Note)
  WHERE NOT far.archived
  RETURN r, near, collect(s)[..4] AS further, collect(far)[..4] AS beyond
}
RETURN centre, r, near, further, beyond
LIMIT 64;

// Bridges: links nothing else spans
// A local bridge: its two notes share no neighbour, so whoever walks from one side to the
// other walks over it. Both sides have further links.
WITH 'default' AS namespace
MATCH (a:Note {namespace: namespace})-[r:RELATED]->(b:Note)
WHERE NOT a.archived AND NOT b.archived
  AND COUNT { (a)-[:RELATED]-() } > 1
  AND COUNT { (b)-[:RELATED]-() } > 1
  AND NOT EXISTS { (a)-[:RELATED]-(:Note)-[:RELATED]-(b) }
WITH a, r, b
ORDER BY r.weight DESC, r.pair
LIMIT 10
CALL (a, b) {
  UNWIND [a, b] AS side
  CALL (side) {
    MATCH (side)-[s:RELATED]-(beyond:Note)
    WHERE NOT beyond.archived
    RETURN s, beyond
    ORDER BY s.weight DESC, beyond.id
    LIMIT 4
  }
  RETURN collect(s) AS links, collect(beyond) AS around
}
RETURN a, r, b, links, around;

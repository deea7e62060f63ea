// Hubs: the notes with the most links, and their strongest ones
MATCH (hub:Note)
WHERE NOT hub.archived
WITH hub, COUNT { (hub)-[:RELATED]-() } AS degree
WHERE degree > 0
ORDER BY degree DESC
LIMIT 5
CALL (hub) {
  MATCH (hub)-[r:RELATED]-(other:Note)
  RETURN r, other
  ORDER BY r.weight DESC
  LIMIT 10
}
RETURN hub, r, other;

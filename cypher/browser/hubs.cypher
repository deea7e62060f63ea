// Hubs: most linked notes
// The five notes with the most links, each with its ten strongest.
WITH 'default' AS namespace
MATCH (hub:Note {namespace: namespace})
WHERE NOT hub.archived
WITH hub, COUNT { (hub)-[:RELATED]-(:Note {archived: false}) } AS degree
WHERE degree > 0
ORDER BY degree DESC, hub.id
LIMIT 5
CALL (hub) {
  MATCH (hub)-[r:RELATED]-(other:Note)
  WHERE NOT other.archived
  RETURN r, other
  ORDER BY r.weight DESC, other.id
  LIMIT 10
}
RETURN hub, r, other
LIMIT 50;

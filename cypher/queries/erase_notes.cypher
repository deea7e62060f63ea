// Remove notes with their links and events
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
OPTIONAL MATCH (e:EvolutionEvent)-[:CHANGED]->(n)
DETACH DELETE e, n

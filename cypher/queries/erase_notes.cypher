// Remove notes with their vectors, links and events
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
OPTIONAL MATCH (v:NoteVectors {namespace: $namespace, id: id})
OPTIONAL MATCH (e:EvolutionEvent)-[:CHANGED]->(n)
DETACH DELETE e, n, v

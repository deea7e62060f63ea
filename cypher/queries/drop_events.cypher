// Remove evolution events
UNWIND $ids AS id
MATCH (e:EvolutionEvent {namespace: $namespace, id: id})
DETACH DELETE e

// Remove the vectors of these notes
UNWIND $ids AS id
MATCH (v:NoteVectors {namespace: $namespace, id: id})
DELETE v

// Vectors whose note is gone
MATCH (v:NoteVectors {namespace: $namespace})
WHERE v.id IS NOT NULL AND NOT EXISTS { (:Note {namespace: $namespace, id: v.id}) }
RETURN v.id AS id
ORDER BY id

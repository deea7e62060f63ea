// Namespaces that hold a note
MATCH (s:Namespace)
WHERE EXISTS { MATCH (n:Note {namespace: s.name}) WHERE n.id IS NOT NULL }
RETURN s.name AS name
ORDER BY name

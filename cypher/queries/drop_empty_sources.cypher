// Remove sources no note comes from any more
UNWIND $ids AS id
MATCH (s:Source {namespace: $namespace, id: id})
WHERE NOT EXISTS { (s)<-[:FROM]-() }
DETACH DELETE s

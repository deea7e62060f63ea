// What a retriever adds to each hit (node, score) of its own search: the notes one link away
MATCH (n:Note {namespace: node.namespace, id: node.id})
OPTIONAL MATCH (n)-[:RELATED]-(other:Note)
RETURN n.id AS id, n.content AS content, score, collect(other.id) AS linked

// What a retriever adds to each hit (node, score) of its own search: the notes one link away
WITH node, score
OPTIONAL MATCH (node)-[:RELATED]-(other:Note)
RETURN node.id AS id, node.content AS content, score, collect(other.id) AS linked

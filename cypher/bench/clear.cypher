// Remove bare notes, page by page
MATCH (n:Note {namespace: $namespace})
WITH n LIMIT $page
DETACH DELETE n
RETURN count(*) AS removed

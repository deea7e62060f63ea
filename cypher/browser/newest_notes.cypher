// Newest notes
MATCH (n:Note)
WHERE NOT n.archived
RETURN n
ORDER BY n.created_at DESC
LIMIT 25;

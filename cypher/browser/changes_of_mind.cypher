// What was said otherwise later?
// The newest changes: the older note, the newer one, and the words that differ.
WITH 'default' AS namespace
MATCH (newer:Note {namespace: namespace})-[r:SUPERSEDES]->(older:Note)
RETURN newer.created_at AS said_at, newer.author AS author, r.reason AS kind,
       r.before AS before, r.after AS after, r.cosine AS similarity,
       older.title AS older_note, newer.title AS newer_note, newer, r, older
ORDER BY said_at DESC, newer.id, older.id
LIMIT 25;
